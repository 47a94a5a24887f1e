// What a dashboard says. Documents come from the server and from files that people import, so they
// are read as what they are: anything.
export const CELL_KINDS = [
  'line',
  'area',
  'bar',
  'scatter',
  'histogram',
  'heatmap',
  'single',
  'gauge',
  'table',
  'states',
  'note',
  'alerts',
  'placeholder',
] as const;
export type CellKind = (typeof CELL_KINDS)[number];

export const LEVELS = ['good', 'warn', 'bad'] as const;
export type Level = (typeof LEVELS)[number];

export type CellQuery = {
  readonly text: string;
  /** Empty for that of the dashboard. */
  readonly database: string;
  /** Stands for its lines in a legend; empty leaves them as the answer names them. */
  readonly label: string;
};

/** From a value on, something is good, doubtful or bad. */
export type CellThreshold = { readonly value: number; readonly level: Level };

/** Where a cell lies: columns of twelve, rows of `ROW_PIXELS`. */
export type CellPlace = {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
};

export type Cell = CellPlace & {
  readonly id: string;
  readonly title: string;
  readonly kind: CellKind;
  readonly queries: readonly CellQuery[];
  /** Of its numbers, an id of `charts/units.ts` or free text. */
  readonly unit: string;
  readonly isStacked: boolean;
  readonly hasLegend: boolean;
  readonly thresholds: readonly CellThreshold[];
  /** Ends of a gauge. */
  readonly min: number;
  readonly max: number;
  /** Text of a note, and whether it is HTML. */
  readonly note: string;
  readonly isHtml: boolean;
  /** Of a placeholder: why nothing is drawn, and what was imported, as JSON. */
  readonly reason: string;
  readonly original: string;
  /** Topics of an alert list, a pattern with `*`. */
  readonly topic: string;
};

export const VARIABLE_KINDS = ['query', 'list', 'interval', 'text'] as const;

export type Variable = {
  readonly name: string;
  readonly kind: (typeof VARIABLE_KINDS)[number];
  /** Statement whose values are offered. */
  readonly query: string;
  readonly database: string;
  /** What is offered otherwise, and what people read for each; '' for the value itself. */
  readonly options: readonly string[];
  readonly labels: readonly string[];
  /** `/pattern/flags` over the values of a statement, RE2; its first group is the value. */
  readonly pattern: string;
  readonly isMulti: boolean;
  /** What is chosen until somebody chooses; nothing means all where several may be chosen. */
  readonly chosen: readonly string[];
};

export type Annotation = {
  readonly name: string;
  readonly kind: 'query' | 'alerts';
  readonly query: string;
  readonly database: string;
  /** Pattern of topics, with `*`. */
  readonly topic: string;
};

export type Dashboard = {
  readonly title: string;
  /** Of queries that name none. */
  readonly database: string;
  readonly from: string;
  readonly to: string;
  /** As the picker of the page has it; empty for never. */
  readonly refresh: string;
  readonly variables: readonly Variable[];
  readonly annotations: readonly Annotation[];
  readonly cells: readonly Cell[];
};

export const COLUMNS = 12;
export const ROW_PIXELS = 44;

/** Beyond these a document is none of ours: nobody looks at so many. */
const CELLS_MAX = 500;
const LIST_MAX = 200;
/** Rows of a cell. */
export const ROWS_MAX = 60;
/** Characters of what a placeholder stands for. */
const ORIGINAL_MAX = 100_000;

export const EMPTY_CELL: Cell = {
  id: '',
  title: '',
  kind: 'line',
  queries: [],
  unit: 'none',
  isStacked: false,
  hasLegend: true,
  thresholds: [],
  min: 0,
  max: 100,
  note: '',
  isHtml: false,
  reason: '',
  original: '',
  topic: '*',
  x: 0,
  y: 0,
  w: 6,
  h: 6,
};

export const EMPTY_VARIABLE: Variable = {
  name: '',
  kind: 'list',
  query: '',
  database: '',
  options: [],
  labels: [],
  pattern: '',
  isMulti: false,
  chosen: [],
};

export const EMPTY_DASHBOARD: Dashboard = {
  title: '',
  database: '',
  from: 'now-1h',
  to: 'now',
  refresh: '',
  variables: [],
  annotations: [],
  cells: [],
};

type Fields = Readonly<Record<string, unknown>>;

/** Fields of an object; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown, missing = ''): string =>
  typeof value === 'string' ? value : missing;
const numberOf = (value: unknown, missing: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : missing;
const texts = (value: unknown): readonly string[] =>
  listOf(value)
    .filter((each) => typeof each === 'string')
    .slice(0, LIST_MAX);

function oneOf<T extends string>(options: readonly T[], value: unknown, missing: T): T {
  return options.find((each) => each === value) ?? missing;
}

const within = (value: number, min: number, max: number): number =>
  Math.min(max, Math.max(min, Math.round(value)));

/** A document as a dashboard, what is missing or not understood as by default. */
export function readDashboard(value: unknown): Dashboard {
  const fields = fieldsOf(value);
  return {
    title: textOf(fields['title']),
    database: textOf(fields['database']),
    from: textOf(fields['from'], EMPTY_DASHBOARD.from),
    to: textOf(fields['to'], EMPTY_DASHBOARD.to),
    refresh: textOf(fields['refresh']),
    variables: listOf(fields['variables']).slice(0, LIST_MAX).map(readVariable),
    annotations: listOf(fields['annotations']).slice(0, LIST_MAX).map(readAnnotation),
    cells: listOf(fields['cells']).slice(0, CELLS_MAX).map(readCell),
  };
}

/** Whether a document was written here: it has cells of a kind that is known. */
export function isDashboard(value: unknown): boolean {
  const { cells } = fieldsOf(value);
  if (!Array.isArray(cells)) return false;
  return cells.every((cell) => CELL_KINDS.some((kind) => kind === fieldsOf(cell)['kind']));
}

function readCell(value: unknown, at: number): Cell {
  const fields = fieldsOf(value);
  const w = within(numberOf(fields['w'], EMPTY_CELL.w), 1, COLUMNS);
  return {
    id: textOf(fields['id'], `cell-${at + 1}`),
    title: textOf(fields['title']),
    kind: oneOf(CELL_KINDS, fields['kind'], 'line'),
    queries: listOf(fields['queries']).slice(0, LIST_MAX).map(readQuery),
    unit: textOf(fields['unit'], 'none'),
    isStacked: fields['isStacked'] === true,
    hasLegend: fields['hasLegend'] !== false,
    thresholds: listOf(fields['thresholds'])
      .slice(0, LIST_MAX)
      .map(fieldsOf)
      .map(({ value: limit, level }) => ({
        value: numberOf(limit, 0),
        level: oneOf(LEVELS, level, 'warn'),
      })),
    min: numberOf(fields['min'], EMPTY_CELL.min),
    max: numberOf(fields['max'], EMPTY_CELL.max),
    note: textOf(fields['note']),
    isHtml: fields['isHtml'] === true,
    reason: textOf(fields['reason']),
    original: textOf(fields['original']).slice(0, ORIGINAL_MAX),
    topic: textOf(fields['topic'], EMPTY_CELL.topic),
    x: within(numberOf(fields['x'], 0), 0, COLUMNS - w),
    y: within(numberOf(fields['y'], 0), 0, CELLS_MAX * ROWS_MAX),
    w,
    h: within(numberOf(fields['h'], EMPTY_CELL.h), 1, ROWS_MAX),
  };
}

function readQuery(value: unknown): CellQuery {
  const { text, database, label } = fieldsOf(value);
  return { text: textOf(text), database: textOf(database), label: textOf(label) };
}

function readVariable(value: unknown): Variable {
  const fields = fieldsOf(value);
  return {
    name: textOf(fields['name']),
    kind: oneOf(VARIABLE_KINDS, fields['kind'], 'list'),
    query: textOf(fields['query']),
    database: textOf(fields['database']),
    options: texts(fields['options']),
    labels: texts(fields['labels']),
    pattern: textOf(fields['pattern']),
    isMulti: fields['isMulti'] === true,
    chosen: texts(fields['chosen']),
  };
}

function readAnnotation(value: unknown): Annotation {
  const fields = fieldsOf(value);
  return {
    name: textOf(fields['name']),
    kind: oneOf(['query', 'alerts'], fields['kind'], 'query'),
    query: textOf(fields['query']),
    database: textOf(fields['database']),
    topic: textOf(fields['topic'], '*'),
  };
}

/** The level of a value: that of the highest threshold it has reached. */
export function levelOf(value: number, thresholds: readonly CellThreshold[]): Level | undefined {
  return thresholds
    .filter((each) => value >= each.value)
    .toSorted((a, b) => a.value - b.value)
    .at(-1)?.level;
}
