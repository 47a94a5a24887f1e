// Chronograf's dashboards: cells with InfluxQL queries and template variables.
import { formatIdentifier } from '@tidemark/influxql';

import { texts } from '../../texts/texts.ts';
import { clamped, settled } from '../layout.ts';
import {
  COLUMNS,
  EMPTY_CELL,
  EMPTY_DASHBOARD,
  EMPTY_VARIABLE,
  fieldsOf,
  listOf,
  textOf,
} from '../model.ts';
import type { Cell, CellKind, CellQuery, CellThreshold, Dashboard, Variable } from '../model.ts';
import { placeholder } from './placeholder.ts';
import type { Report } from './report.ts';

const t = texts.imports;

type Fields = Readonly<Record<string, unknown>>;

const KINDS: Readonly<Record<string, CellKind>> = {
  line: 'line',
  'line-stacked': 'area',
  'line-stepplot': 'line',
  'line-plus-single-stat': 'line',
  bar: 'bar',
  'single-stat': 'single',
  gauge: 'gauge',
  table: 'table',
  alerts: 'alerts',
  note: 'note',
};

/** A row of its grid of twelve columns is so many of ours; newer files count eighths of both. */
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
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (kind === undefined) {
    return placeholder({ title, reason: t.kind(type), original: cell }, where, report);
  }
  const note = textOf(cell['note']);
  if (kind === 'note' || kind === 'alerts') return { ...EMPTY_CELL, title, kind, note };
  const queries = listOf(cell['queries']).flatMap((each): readonly CellQuery[] => {
    const fields = fieldsOf(each);
    const text = textOf(fields['query'], textOf(fieldsOf(fields['queryConfig'])['rawText']));
    if (text.trim() === '' || fields['type'] === 'flux' || /\|>/.test(text)) {
      report.add(where, t.notInfluxql);
      return [];
    }
    const database = textOf(fieldsOf(fields['queryConfig'])['database'], textOf(fields['db']));
    return [{ text: statementOf(text, types), database, label: textOf(fields['label']) }];
  });
  if (queries.length === 0) {
    const reason = listOf(cell['queries']).length === 0 ? t.noQuery : t.notInfluxql;
    return placeholder({ title, reason, original: cell }, where, report);
  }
  const colours = listOf(cell['colors']).map(fieldsOf);
  const limit = (name: string): number | undefined => {
    const found = colours.find((each) => each['type'] === name)?.['value'];
    return found === undefined ? undefined : Number(found);
  };
  return {
    ...EMPTY_CELL,
    title,
    kind,
    queries,
    unit: unitOf(fieldsOf(fieldsOf(cell['axes'])['y'])),
    isStacked: type === 'line-stacked',
    thresholds: thresholdsOf(colours),
    min: limit('min') ?? 0,
    max: limit('max') ?? 100,
  };
}

/** What it writes behind numbers is free text; some of it is a unit. */
function unitOf({ suffix, base }: Fields): string {
  const text = textOf(suffix).trim();
  if (text === '%') return 'percent';
  if (/^(?:b|bytes?)$/i.test(text)) return 'bytes';
  if (/^(?:b|bytes?)\/s(?:ec)?$/i.test(text)) return 'bytes-per-second';
  if (text === 'ns' || text === 'ms' || text === 's') return text;
  if (text !== '') return `suffix:${text}`;
  return textOf(base) === '2' ? 'bytes' : 'none';
}

function thresholdsOf(colours: readonly Fields[]): readonly CellThreshold[] {
  return colours
    .filter(({ type, id }) => (type === 'threshold' || type === 'text') && id !== 'base')
    .map(({ value, name, hex }) => ({
      value: Number(value ?? 0),
      level: /green|honeydew|rainforest|viridian/i.test(`${String(name)} ${String(hex)}`)
        ? ('good' as const)
        : /ruby|fire|red|curacao|dreamsicle/i.test(String(name))
          ? ('bad' as const)
          : ('warn' as const),
    }))
    .filter(({ value }) => Number.isFinite(value));
}

const NAME_TYPES = ['fieldKeys', 'tagKeys', 'measurements', 'databases'];

/** Its words as ours: spans and widths, and variables quoted as it quotes their values. */
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
      return [base];
    case 'constant':
    case 'text':
      return [{ ...base, kind: 'text', options: [] }];
    default:
      report.add('', t.variable(name, type));
      return [];
  }
}
