// Chronograf's dashboards: cells with InfluxQL queries and template variables.
import { formatIdentifier } from '@tidemark/influxql';

import { texts } from '../../texts/texts.ts';
import { KINDS } from '../../cells/registry.ts';
import { fieldAt, fieldsOf, listOf, textOf } from '../fields.ts';
import type { Fields } from '../fields.ts';
import { clamped, settled } from '../layout.ts';
import { COLUMNS, EMPTY_CELL, EMPTY_DASHBOARD, EMPTY_VARIABLE, optionsOf } from '../model.ts';
import type { Cell, CellQuery, Dashboard, Variable } from '../model.ts';
import { optionValues } from './option-values.ts';
import { placeholder } from './placeholder.ts';
import type { Report } from './report.ts';

const t = texts.imports;

/** Rows of ours per row of its twelve-column grid; newer files count eighths. */
const OWN_ROWS = 1.6;
const FINE = 8;

export function fromChronograf(fields: Fields, report: Report): Dashboard {
  const templates = listOf(fields['templates']).map(fieldsOf);
  const types = new Map(templates.map((each) => [nameOf(each), textOf(each['type'])]));
  const given = listOf(fields['cells']).map(fieldsOf);
  const isFine = given.some(({ x, w }) => Number(x) + Number(w) > COLUMNS);
  const scale = isFine ? 1 / FINE : 1;
  const cells = given.map((cell): Cell => {
    const { x, y, w, h } = cell;
    const place = clamped({
      x: Math.round(Number(x ?? 0) * scale),
      y: Math.round(Number(y ?? 0) * scale * OWN_ROWS),
      w: Math.max(1, Math.round(Number(w ?? 4) * scale)),
      h: Math.max(2, Math.round(Number(h ?? 4) * scale * OWN_ROWS)),
    });
    return { ...cellOf(cell, types, report), ...place };
  });
  return {
    ...EMPTY_DASHBOARD,
    title: textOf(fields['name']),
    variables: templates.flatMap((each) => variableOf(each, types, report)),
    cells: settled(cells.map((cell, i) => ({ ...cell, id: `cell-${i + 1}` }))),
  };
}

const nameOf = (template: Fields): string => textOf(template['tempVar']).replaceAll(':', '');

function cellOf(cell: Fields, types: ReadonlyMap<string, string>, report: Report): Cell {
  const type = textOf(cell['type'], 'line');
  const title = textOf(cell['name']);
  const where = title === '' ? type : title;
  const kind = KINDS.find(({ isChronograf }) => isChronograf?.(cell) === true);
  if (kind === undefined) {
    return placeholder({ title, reason: t.kind(type), original: cell }, where, report);
  }
  const queries =
    kind.draws === undefined
      ? []
      : listOf(cell['queries']).flatMap((each) => queryOf(fieldsOf(each), types, where, report));
  if (kind.draws !== undefined && queries.length === 0) {
    const reason = listOf(cell['queries']).length === 0 ? t.noQuery : t.notInfluxql;
    return placeholder({ title, reason, original: cell }, where, report);
  }
  for (const line of leftOutOf(cell)) report.add(where, line);
  const options = optionValues(optionsOf(kind), (row) => row.fromChronograf?.(cell));
  return { ...EMPTY_CELL, title, kind: kind.id, queries, options };
}

function queryOf(
  fields: Fields,
  types: ReadonlyMap<string, string>,
  where: string,
  report: Report,
): readonly CellQuery[] {
  const config = fieldsOf(fields['queryConfig']);
  const text = textOf(fields['query'], textOf(config['rawText']));
  if (text.trim() === '' || fields['type'] === 'flux' || /\|>/.test(text)) {
    report.add(where, t.notInfluxql);
    return [];
  }
  if (listOf(config['shifts']).length > 0) report.add(where, t.shifts);
  const database = textOf(config['database'], textOf(fields['db']));
  return [{ text: statementOf(text, types), database, label: textOf(fields['label']) }];
}

/** Members of a cell that are not represented. */
function leftOutOf(cell: Fields): readonly string[] {
  const found: string[] = [];
  const tell = (is: boolean, name: string): void => {
    if (is) found.push(t.option(name));
  };
  const bounds = listOf(fieldAt(cell, 'axes', 'x', 'bounds')).some((each) => textOf(each) !== '');
  tell(bounds, 'axes.x.bounds');
  const right = fieldsOf(fieldAt(cell, 'axes', 'y2'));
  const hasRight = listOf(right['bounds']).some((each) => textOf(each) !== '');
  tell(hasRight || textOf(right['label']) !== '', 'axes.y2');
  tell(cell['type'] === 'line-plus-single-stat', 'type: single-stat');
  const table = cell['type'] === 'table' ? fieldsOf(cell['tableOptions']) : {};
  tell(table['verticalTimeAxis'] === false, 'tableOptions.verticalTimeAxis');
  tell(table['fixFirstColumn'] === true, 'tableOptions.fixFirstColumn');
  tell(textOf(table['wrapping'], 'truncate') === 'wrap', 'tableOptions.wrapping');
  const isTimed = cell['type'] === 'table' && textOf(cell['timeFormat']) !== '';
  tell(isTimed && cell['timeFormat'] !== 'MM/DD/YYYY HH:mm:ss', 'timeFormat');
  const hasOwnScale = listOf(cell['colors'])
    .map(fieldsOf)
    .some(({ type, name }) => type === 'scale' && name !== USUAL_SCALE);
  tell(hasOwnScale, 'colors');
  return found;
}

/** The colour scale that Chronograf's editor always writes. */
const USUAL_SCALE = 'Nineteen Eighty Four';

const NAME_TYPES = ['fieldKeys', 'tagKeys', 'measurements', 'databases'];

/**
 * Converts its placeholders to ours: spans and widths, and variables quoted as it quotes their
 * values.
 */
function statementOf(text: string, types: ReadonlyMap<string, string>): string {
  return text
    .replaceAll(
      /"?time"?\s*>=?\s*:dashboardTime:(?:\s+and\s+"?time"?\s*<=?\s*(?::upperDashboardTime:|now\(\)))?/gi,
      '$timeFilter',
    )
    .replaceAll(/time\(\s*:interval:\s*/gi, 'time($interval')
    .replaceAll(':interval:', 'time($interval)')
    .replaceAll(/(['"/]?):(\w+):/g, (all, before: string, name: string) => {
      const type = types.get(name);
      if (type === undefined) return all;
      if (before !== '') return `${before}$\{${name}}`;
      if (type === 'tagValues') return `'$\{${name}}'`;
      return NAME_TYPES.includes(type) ? `"$\{${name}}"` : `$\{${name}}`;
    });
}

function variableOf(
  template: Fields,
  types: ReadonlyMap<string, string>,
  report: Report,
): readonly Variable[] {
  const name = nameOf(template);
  const type = textOf(template['type']);
  const values = listOf(template['values']).map(fieldsOf);
  const options = values.map(({ value }) => textOf(value));
  // Users choose a key of a map.
  const labels = type === 'map' ? values.map(({ key }) => textOf(key)) : [];
  const selected = values.find(
    ({ selected: is, localSelected }) => localSelected === true || is === true,
  );
  const chosen = selected === undefined ? options.slice(0, 1) : [textOf(selected['value'])];
  const asked = fieldsOf(template['query']);
  const base: Variable = {
    ...EMPTY_VARIABLE,
    name,
    database: textOf(asked['db']),
    options,
    labels,
    chosen,
  };
  const measurement = textOf(asked['measurement']);
  const from = measurement === '' ? '' : ` FROM ${formatIdentifier(measurement)}`;
  switch (type) {
    case 'tagValues': {
      const key = formatIdentifier(textOf(asked['tagKey']));
      return [{ ...base, kind: 'query', query: `SHOW TAG VALUES${from} WITH KEY = ${key}` }];
    }
    case 'fieldKeys':
      return [{ ...base, kind: 'query', query: `SHOW FIELD KEYS${from}` }];
    case 'tagKeys':
      return [{ ...base, kind: 'query', query: `SHOW TAG KEYS${from}` }];
    case 'measurements':
      return [{ ...base, kind: 'query', query: 'SHOW MEASUREMENTS' }];
    case 'databases':
      return [{ ...base, kind: 'query', query: 'SHOW DATABASES' }];
    case 'influxql':
      return [{ ...base, kind: 'query', query: statementOf(textOf(asked['influxql']), types) }];
    case 'csv':
    case 'map':
      return [base];
    case 'constant':
    case 'text':
      return [{ ...base, kind: 'text', options: [] }];
    default:
      report.add('', t.variable(name, type));
      return [];
  }
}
