// Grafana's dashboards: panels with InfluxQL queries, variables, annotations.
import type { GrafanaPanel } from '../../cells/option.ts';
import { KINDS } from '../../cells/registry.ts';
import { texts } from '../../texts/texts.ts';
import { fieldAt, fieldsOf, listOf, textOf } from '../fields.ts';
import type { Fields } from '../fields.ts';
import { below, clamped, settled } from '../layout.ts';
import { COLUMNS, EMPTY_CELL, EMPTY_DASHBOARD, EMPTY_VARIABLE, optionsOf } from '../model.ts';
import type { Annotation, Cell, CellPlace, CellQuery, Dashboard, Variable } from '../model.ts';
import { leftOutOf } from './grafana-left-out.ts';
import { statementOf } from './grafana-query.ts';
import { choicesOf } from '../variables.ts';
import { optionValues } from './option-values.ts';
import { placeholder } from './placeholder.ts';
import type { Report } from './report.ts';

const t = texts.imports;

/** Grafana's grid: 24 columns, rows of 38 pixels including the gap. */
const GRID = { columns: 24, rowPixels: 38, ownRowPixels: 52 };

export function fromGrafana(document: Fields, report: Report): Dashboard {
  const inputs = constantsOf(document);
  const fields = fieldsOf(filledIn(document, inputs));
  const { time, templating, annotations, refresh } = fields;
  const { from, to } = fieldsOf(time);
  const cells = panelsOf(fields).map(({ panel, place }, i): Cell => {
    const cell = cellOf(panel, report);
    return { ...cell, ...clamped(place), id: `cell-${i + 1}` };
  });
  if (listOf(fields['links']).length > 0) report.add('', t.links);
  const zone = textOf(fields['timezone']);
  if (zone !== '' && zone !== 'browser') report.add('', t.timeZone(zone));
  return {
    ...EMPTY_DASHBOARD,
    title: textOf(fields['title']),
    tags: listOf(fields['tags']).filter((tag) => typeof tag === 'string'),
    from: relative(from) ?? EMPTY_DASHBOARD.from,
    to: relative(to) ?? EMPTY_DASHBOARD.to,
    refresh: textOf(refresh),
    variables: [
      // Inputs of the file that nobody has filled in.
      ...[...inputs].flatMap(([name, value]): readonly Variable[] =>
        value === undefined ? [{ ...EMPTY_VARIABLE, name, kind: 'text' }] : [],
      ),
      ...listOf(fieldsOf(templating)['list']).flatMap((each) => variableOf(fieldsOf(each), report)),
    ],
    annotations: listOf(fieldsOf(annotations)['list']).flatMap((each) =>
      annotationOf(fieldsOf(each), report),
    ),
    cells: settled(cells),
  };
}

/**
 * Constants that an exported file asks for: their values, `undefined` if it has none. Data sources,
 * its other inputs, are replaced by the database chosen for the import.
 */
function constantsOf(document: Fields): ReadonlyMap<string, string | undefined> {
  return new Map(
    listOf(document['__inputs'])
      .map(fieldsOf)
      .filter(({ type }) => type === 'constant')
      .map(({ name, value }) => [textOf(name), typeof value === 'string' ? value : undefined]),
  );
}

/** The document with its inputs replaced by values. */
function filledIn(value: unknown, inputs: ReadonlyMap<string, string | undefined>): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\$\{(\w+)\}/g, (all, name: string) => inputs.get(name) ?? all);
  }
  if (Array.isArray(value)) return value.map((each) => filledIn(each, inputs));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, filledIn(each, inputs)]),
  );
}

/** `now-6h` and instants; roundings such as `now/d` are treated as the moment itself. */
function relative(value: unknown): string | undefined {
  const text = textOf(value).replace(/\/[smhdwMy]+$/, '');
  return text === '' ? undefined : text;
}

type Placed = { readonly panel: Fields; readonly place: CellPlace };

function panelsOf(fields: Fields): readonly Placed[] {
  const flat = listOf(fields['panels'])
    .map(fieldsOf)
    // A folded row contains its panels.
    .flatMap((panel) => [panel, ...(isRow(panel) ? listOf(panel['panels']).map(fieldsOf) : [])])
    .map((panel) => ({ panel, place: placeOf(panel) }));
  const rows = listOf(fields['rows']).map(fieldsOf);
  const placed: Placed[] = [...flat];
  for (const row of rows) placed.push(...rowOf(row, below(placed.map(({ place }) => place))));
  return placed;
}

const isRow = (panel: Fields): boolean => panel['type'] === 'row';

function placeOf(panel: Fields): CellPlace {
  const { x, y, w, h } = fieldsOf(panel['gridPos']);
  const columns = (value: unknown): number =>
    Math.round((Number(value ?? 0) * COLUMNS) / GRID.columns);
  const rows = (value: unknown): number =>
    Math.round((Number(value ?? 0) * GRID.rowPixels) / GRID.ownRowPixels);
  if (isRow(panel)) return { x: 0, y: rows(y), w: COLUMNS, h: 1 };
  return {
    x: columns(x),
    y: rows(y),
    w: Math.max(1, columns(w ?? 12)),
    h: Math.max(2, rows(h ?? 8)),
  };
}

/**
 * Dashboards from before 2018: panels in rows, side by side with their widths until the row is
 * full.
 */
function rowOf(row: Fields, top: number): readonly Placed[] {
  const pixels = Number.parseInt(String(row['height'] ?? 250), 10) || 250;
  const h = Math.max(2, Math.round(pixels / GRID.ownRowPixels));
  const isTitled = textOf(row['title']) !== '' && row['showTitle'] === true;
  const isKept = isTitled || row['collapse'] === true || textOf(row['repeat']) !== '';
  const heading = { panel: { ...row, type: 'row' }, place: { x: 0, y: top, w: COLUMNS, h: 1 } };
  let x = 0;
  let y = isKept ? top + 1 : top;
  const panels = listOf(row['panels'])
    .map(fieldsOf)
    .map((panel) => {
      const w = Math.min(COLUMNS, Math.max(1, Math.round(Number(panel['span'] ?? 12))));
      if (x + w > COLUMNS) {
        x = 0;
        y += h;
      }
      const place = { x, y, w, h };
      x += w;
      return { panel, place };
    });
  return isKept ? [heading, ...panels] : panels;
}

/** A panel that cannot be drawn keeps its place, and shows the reason. */
function cellOf(panel: Fields, report: Report): Cell {
  const read = grafanaPanel(panel);
  const { type } = read;
  const title = textOf(panel['title']);
  const where = title === '' ? type : title;
  const kind = KINDS.find(({ isGrafana }) => isGrafana?.(read) === true);
  if (kind === undefined) {
    return placeholder({ title, reason: t.kind(type), original: panel }, where, report);
  }
  const queries =
    kind.draws === undefined
      ? []
      : listOf(panel['targets']).flatMap((target) => queryOf(fieldsOf(target), where, report));
  if (kind.draws !== undefined && queries.length === 0) {
    const reason = listOf(panel['targets']).length === 0 ? t.noQuery : t.notInfluxql;
    return placeholder({ title, reason, original: panel }, where, report);
  }
  const rows = optionsOf(kind);
  for (const line of leftOutOf(read, rows)) report.add(where, line);
  const options = optionValues(rows, (row) => row.fromGrafana?.(read));
  return { ...EMPTY_CELL, title, kind: kind.id, queries, options };
}

function grafanaPanel(panel: Fields): GrafanaPanel {
  const defaults = fieldsOf(fieldAt(panel, 'fieldConfig', 'defaults'));
  return {
    panel,
    type: textOf(panel['type']),
    defaults,
    custom: fieldsOf(defaults['custom']),
    options: fieldsOf(panel['options']),
  };
}

function queryOf(target: Fields, where: string, report: Report): readonly CellQuery[] {
  const raw = textOf(target['query']);
  const isRaw = target['rawQuery'] === true || !Array.isArray(target['select']);
  const isHidden = target['hide'] === true;
  if (isHidden && isRaw && raw === '') return [];
  // A panel that once had another data source keeps an empty expression.
  const isOther =
    textOf(target['expr']) !== '' || /^\s*from\s*\(|\|>/.test(raw) || (isRaw && raw === '');
  if (isOther) {
    report.add(where, t.notInfluxql);
    return [];
  }
  const text = isRaw ? raw : statementOf(target);
  const label = textOf(target['alias']);
  return [{ text, database: '', label, ...(isHidden ? { isHidden } : {}) }];
}

function variableOf(fields: Fields, report: Report): readonly Variable[] {
  const name = textOf(fields['name']);
  const type = textOf(fields['type']);
  const current = fieldsOf(fields['current'])['value'];
  const chosen = (Array.isArray(current) ? current.map(String) : [textOf(current)]).filter(
    (value) => value !== '' && value !== '$__all',
  );
  const query =
    typeof fields['query'] === 'string'
      ? fields['query']
      : textOf(fieldsOf(fields['query'])['query']);
  const isMulti = fields['multi'] === true || fields['includeAll'] === true;
  const base = { ...EMPTY_VARIABLE, name, isMulti, chosen };
  // A comma inside a value is escaped.
  const listed = query.split(/(?<!\\),/).map((each) => each.replaceAll('\\,', ','));
  const offered = choicesOf(listed);
  const everything = textOf(fields['allValue']);
  if (everything !== '' && everything !== '.*') report.add('', t.allValue(name, everything));
  if (Number(fields['hide'] ?? 0) > 0) report.add('', t.hiddenVariable(name));
  switch (type) {
    case 'query':
      return [{ ...base, kind: 'query', query, pattern: textOf(fields['regex']) }];
    case 'custom':
      return [{ ...base, kind: 'list', ...offered }];
    case 'interval': {
      const options = [...(fields['auto'] === true ? ['auto'] : []), ...offered.options];
      const known = chosen.map((value) => (value.startsWith('$__auto') ? 'auto' : value));
      return [{ ...base, kind: 'interval', isMulti: false, options, chosen: known }];
    }
    case 'constant':
    case 'textbox':
      return [
        { ...base, kind: 'text', isMulti: false, chosen: chosen.length > 0 ? chosen : [query] },
      ];
    case 'datasource':
      report.add('', t.datasource(name));
      return [];
    default:
      report.add('', t.variable(name, type));
      return [];
  }
}

function annotationOf(fields: Fields, report: Report): readonly Annotation[] {
  const query = textOf(fields['query'], textOf(fieldsOf(fields['target'])['query']));
  const name = textOf(fields['name']);
  if (fields['builtIn'] === 1) return [];
  if (query === '' || /\|>/.test(query)) {
    report.add(name, t.notInfluxql);
    return [];
  }
  return [{ name, kind: 'query', query, database: '', topic: '*' }];
}
