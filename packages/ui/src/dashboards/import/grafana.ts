// Grafana's dashboards: panels with InfluxQL queries, variables, annotations.
import { texts } from '../../texts/texts.ts';
import { below, clamped, settled } from '../layout.ts';
import {
  COLUMNS,
  EMPTY_CELL,
  EMPTY_DASHBOARD,
  EMPTY_VARIABLE,
  fieldsOf,
  listOf,
  textOf,
} from '../model.ts';
import type {
  Annotation,
  Cell,
  CellKind,
  CellPlace,
  CellQuery,
  CellThreshold,
  Dashboard,
  Level,
  Variable,
} from '../model.ts';
import { statementOf } from './grafana-query.ts';
import { choicesOf } from '../variables.ts';
import { placeholder } from './placeholder.ts';
import type { Report } from './report.ts';

const t = texts.imports;

type Fields = Readonly<Record<string, unknown>>;

/** Its grid: 24 columns, rows of 38 pixels with their gap. */
const GRID = { columns: 24, rowPixels: 38, ownRowPixels: 52 };

const KINDS: Readonly<Record<string, CellKind>> = {
  graph: 'line',
  timeseries: 'line',
  singlestat: 'single',
  stat: 'single',
  gauge: 'gauge',
  bargauge: 'gauge',
  table: 'table',
  'table-old': 'table',
  text: 'note',
  heatmap: 'heatmap',
  histogram: 'histogram',
  'state-timeline': 'states',
  'status-history': 'states',
  alertlist: 'alerts',
  barchart: 'bar',
  piechart: 'bar',
  'grafana-piechart-panel': 'bar',
};

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
  return {
    ...EMPTY_DASHBOARD,
    title: textOf(fields['title']),
    from: relative(from) ?? EMPTY_DASHBOARD.from,
    to: relative(to) ?? EMPTY_DASHBOARD.to,
    refresh: textOf(refresh),
    variables: [
      // What the file asks for and nobody has filled in.
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
 * Constants that an exported file asks for: their values, `undefined` where it has none. Data
 * sources, which it asks for too, are the database that is chosen for the import.
 */
function constantsOf(document: Fields): ReadonlyMap<string, string | undefined> {
  return new Map(
    listOf(document['__inputs'])
      .map(fieldsOf)
      .filter(({ type }) => type === 'constant')
      .map(({ name, value }) => [textOf(name), typeof value === 'string' ? value : undefined]),
  );
}

/** The document with values in place of the constants it asks for. */
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

/** `now-6h` and instants; roundings such as `now/d` are the moment itself. */
function relative(value: unknown): string | undefined {
  const text = textOf(value).replace(/\/[smhdwMy]+$/, '');
  return text === '' ? undefined : text;
}

type Placed = { readonly panel: Fields; readonly place: CellPlace };

function panelsOf(fields: Fields): readonly Placed[] {
  const flat = listOf(fields['panels'])
    .map(fieldsOf)
    // Panels of a row that is folded are inside of it.
    .flatMap((panel) => (panel['type'] === 'row' ? listOf(panel['panels']).map(fieldsOf) : [panel]))
    .map((panel) => ({ panel, place: placeOf(fieldsOf(panel['gridPos'])) }));
  const rows = listOf(fields['rows']).map(fieldsOf);
  const placed: Placed[] = [...flat];
  for (const row of rows) placed.push(...rowOf(row, below(placed.map(({ place }) => place))));
  return placed;
}

function placeOf({ x, y, w, h }: Fields): CellPlace {
  const columns = (value: unknown): number =>
    Math.round((Number(value ?? 0) * COLUMNS) / GRID.columns);
  const rows = (value: unknown): number =>
    Math.round((Number(value ?? 0) * GRID.rowPixels) / GRID.ownRowPixels);
  return {
    x: columns(x),
    y: rows(y),
    w: Math.max(1, columns(w ?? 12)),
    h: Math.max(2, rows(h ?? 8)),
  };
}

/**
 * Dashboards of before 2018: panels in rows, as wide as they say, side by side until it is full.
 */
function rowOf(row: Fields, top: number): readonly Placed[] {
  const pixels = Number.parseInt(String(row['height'] ?? 250), 10) || 250;
  const h = Math.max(2, Math.round(pixels / GRID.ownRowPixels));
  let x = 0;
  let y = top;
  return listOf(row['panels'])
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
}

/** What cannot be drawn keeps its place, and says why. */
function cellOf(panel: Fields, report: Report): Cell {
  const type = textOf(panel['type']);
  const title = textOf(panel['title']);
  const where = title === '' ? type : title;
  const kind = kindOf(panel, type);
  if (kind === undefined) {
    return placeholder({ title, reason: t.kind(type), original: panel }, where, report);
  }
  if (kind === 'note') {
    const options = fieldsOf(panel['options']);
    const note = textOf(options['content'], textOf(panel['content']));
    const isHtml = textOf(options['mode'], textOf(panel['mode'])) === 'html';
    return { ...EMPTY_CELL, title, kind, note, isHtml };
  }
  if (kind === 'alerts') return { ...EMPTY_CELL, title, kind };
  const queries = listOf(panel['targets']).flatMap((target) =>
    queryOf(fieldsOf(target), where, report),
  );
  if (queries.length === 0) {
    const reason = listOf(panel['targets']).length === 0 ? t.noQuery : t.notInfluxql;
    return placeholder({ title, reason, original: panel }, where, report);
  }
  tellLeftOut(panel, where, report);
  const defaults = fieldsOf(fieldsOf(panel['fieldConfig'])['defaults']);
  const custom = fieldsOf(defaults['custom']);
  const gauge = fieldsOf(panel['gauge']);
  return {
    ...EMPTY_CELL,
    title,
    kind,
    queries,
    unit: unitOf(panel, defaults),
    isStacked:
      panel['stack'] === true || textOf(fieldsOf(custom['stacking'])['mode'], 'none') !== 'none',
    hasLegend: fieldsOf(panel['legend'])['show'] !== false,
    thresholds: thresholdsOf(panel, defaults),
    min: Number(defaults['min'] ?? gauge['minValue'] ?? 0),
    max: Number(defaults['max'] ?? gauge['maxValue'] ?? 100),
  };
}

function kindOf(panel: Fields, type: string): CellKind | undefined {
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (type === 'singlestat' && fieldsOf(panel['gauge'])['show'] === true) return 'gauge';
  if (type === 'graph') {
    if (fieldsOf(panel['xaxis'])['mode'] === 'histogram') return 'histogram';
    if (panel['bars'] === true) return 'bar';
    if (panel['points'] === true && panel['lines'] === false) return 'scatter';
    return Number(panel['fill'] ?? 0) > 1 || panel['stack'] === true ? 'area' : 'line';
  }
  if (type !== 'timeseries') return kind;
  const { custom } = fieldsOf(fieldsOf(panel['fieldConfig'])['defaults']);
  const { drawStyle, fillOpacity } = fieldsOf(custom);
  if (drawStyle === 'bars') return 'bar';
  if (drawStyle === 'points') return 'scatter';
  return Number(fillOpacity ?? 0) > 0 ? 'area' : 'line';
}

function queryOf(target: Fields, where: string, report: Report): readonly CellQuery[] {
  if (target['hide'] === true) {
    report.add(where, t.hidden);
    return [];
  }
  const raw = textOf(target['query']);
  const isRaw = target['rawQuery'] === true || !Array.isArray(target['select']);
  // A panel that was once of another data source keeps an empty expression.
  const isOther =
    textOf(target['expr']) !== '' || /^\s*from\s*\(|\|>/.test(raw) || (isRaw && raw === '');
  if (isOther) {
    report.add(where, t.notInfluxql);
    return [];
  }
  const alias = textOf(target['alias']);
  // What an alias makes of tags, a legend says by itself.
  const label = /[$[\]]/.test(alias) ? '' : alias;
  return [{ text: isRaw ? raw : statementOf(target), database: '', label }];
}

function tellLeftOut(panel: Fields, where: string, report: Report): void {
  if (panel['alert'] !== undefined) report.add(where, t.alertRule);
  if (listOf(panel['transformations']).length > 0) report.add(where, t.transformations);
  const { overrides } = fieldsOf(panel['fieldConfig']);
  const hasOverrides = listOf(overrides).length > 0 || listOf(panel['seriesOverrides']).length > 0;
  if (hasOverrides) report.add(where, t.overrides);
  if (listOf(panel['links']).length > 0) report.add(where, t.links);
  const repeat = textOf(panel['repeat']);
  if (repeat !== '') report.add(where, t.repeated(repeat));
}

function unitOf(panel: Fields, defaults: Fields): string {
  const axis = fieldsOf(listOf(panel['yaxes'])[0]);
  const name = textOf(defaults['unit'], textOf(axis['format'], textOf(panel['format'])));
  return name === '' || name === 'short' ? 'none' : name;
}

/** Its colours are names or codes; what matters is which of three they come nearest to. */
function levelOfColour(colour: string): Level {
  if (/green|#(?:73BF69|299c46|7EB26D|37872D|56A64B)/i.test(colour)) return 'good';
  return /red|#(?:F2495C|d44a3a|E24D42|C4162A|BF1B00|E02F44)|245, 54, 54/i.test(colour)
    ? 'bad'
    : 'warn';
}

function thresholdsOf(panel: Fields, defaults: Fields): readonly CellThreshold[] {
  const steps = listOf(fieldsOf(defaults['thresholds'])['steps']).map(fieldsOf);
  const given = steps.flatMap(({ value, color }): readonly CellThreshold[] =>
    typeof value === 'number' ? [{ value, level: levelOfColour(textOf(color)) }] : [],
  );
  if (given.length > 0) return given;
  const old = panel['thresholds'];
  // Of a single value: "70,90", between green, orange and red.
  if (typeof old === 'string') {
    const limits = old
      .split(',')
      .map(Number)
      .filter((limit) => !Number.isNaN(limit));
    return old.trim() === ''
      ? []
      : limits.map((value, i) => ({ value, level: i === limits.length - 1 ? 'bad' : 'warn' }));
  }
  return listOf(old)
    .map(fieldsOf)
    .flatMap(({ value, colorMode }): readonly CellThreshold[] =>
      typeof value === 'number'
        ? [{ value, level: colorMode === 'critical' ? 'bad' : 'warn' }]
        : [],
    );
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
  // A comma that belongs to a value is escaped.
  const listed = query.split(/(?<!\\),/).map((each) => each.replaceAll('\\,', ','));
  const offered = choicesOf(listed);
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
