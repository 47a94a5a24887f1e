// The contents of a dashboard. Documents come from the server and from imported files, so nothing
// about them is assumed.
import type { Kind } from '../cells/kind.ts';
import { readOptions } from '../cells/option.ts';
import type { OptionRow, Options } from '../cells/option.ts';
import { isKind, kindOf } from '../cells/registry.ts';
import { OF_ALL, OF_QUERIES } from '../cells/options/common.ts';
import { fieldsOf, listOf, numberOf, oneOf, textOf } from './fields.ts';

export type CellQuery = {
  readonly text: string;
  /** Empty for the dashboard's database. */
  readonly database: string;
  /**
   * Label of its lines in a legend; empty keeps the names of the answer. `$tag_host`, `$col`, `$m`
   * and `$1` stand for parts of a line's name.
   */
  readonly label: string;
  /** Stored, but not run. */
  readonly isHidden?: boolean | undefined;
};

/** Place of a cell: in twelve columns, and rows of `ROW_PIXELS`. */
export type CellPlace = {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
};

export type Cell = CellPlace & {
  readonly id: string;
  readonly title: string;
  /** The id of a row of `cells/registry.ts`. */
  readonly kind: string;
  readonly queries: readonly CellQuery[];
  /** Values of its kind's options that differ from the defaults. */
  readonly options: Options;
};

export const VARIABLE_KINDS = ['query', 'list', 'interval', 'text'] as const;

export type Variable = {
  readonly name: string;
  readonly kind: (typeof VARIABLE_KINDS)[number];
  /** The statement whose values are offered. */
  readonly query: string;
  readonly database: string;
  /** Fixed values, and their labels; '' for the value itself. */
  readonly options: readonly string[];
  readonly labels: readonly string[];
  /** RE2 `/pattern/flags` over a statement's values; its first group is the value. */
  readonly pattern: string;
  readonly isMulti: boolean;
  /** The initial selection; empty means all where several may be selected. */
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
  /** The folder in the list; empty for none. */
  readonly folder: string;
  readonly tags: readonly string[];
  /** The database of queries that name none. */
  readonly database: string;
  readonly from: string;
  readonly to: string;
  /** The page's refresh interval; empty for never. */
  readonly refresh: string;
  readonly variables: readonly Variable[];
  readonly annotations: readonly Annotation[];
  readonly cells: readonly Cell[];
};

export const COLUMNS = 12;
export const ROW_PIXELS = 44;

/** A document with more cells is not one of ours. */
const CELLS_MAX = 500;
const LIST_MAX = 200;
/** Maximum height of a cell. */
export const ROWS_MAX = 60;
export const EMPTY_CELL: Cell = {
  id: '',
  title: '',
  kind: 'line',
  queries: [],
  options: {},
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
  folder: '',
  tags: [],
  database: '',
  from: 'now-1h',
  to: 'now',
  refresh: '',
  variables: [],
  annotations: [],
  cells: [],
};

const texts = (value: unknown): readonly string[] =>
  listOf(value)
    .filter((each) => typeof each === 'string')
    .slice(0, LIST_MAX);

const within = (value: number, min: number, max: number): number =>
  Math.min(max, Math.max(min, Math.round(value)));

/** Reads a document as a dashboard; missing or invalid parts get defaults. */
export function readDashboard(value: unknown): Dashboard {
  const fields = fieldsOf(value);
  return {
    title: textOf(fields['title']),
    folder: textOf(fields['folder']),
    tags: texts(fields['tags']),
    database: textOf(fields['database']),
    from: textOf(fields['from'], EMPTY_DASHBOARD.from),
    to: textOf(fields['to'], EMPTY_DASHBOARD.to),
    refresh: textOf(fields['refresh']),
    variables: listOf(fields['variables']).slice(0, LIST_MAX).map(readVariable),
    annotations: listOf(fields['annotations']).slice(0, LIST_MAX).map(readAnnotation),
    cells: listOf(fields['cells']).slice(0, CELLS_MAX).map(readCell),
  };
}

/** Whether a document is one of ours: it has cells of a known kind. */
export function isDashboard(value: unknown): boolean {
  const { cells } = fieldsOf(value);
  if (!Array.isArray(cells)) return false;
  return cells.every((cell) => isKind(fieldsOf(cell)['kind']));
}

/** All options of a kind of cell. */
export function optionsOf({ options, draws }: Kind): readonly OptionRow<unknown>[] {
  return [...options, ...OF_ALL, ...(draws === undefined ? [] : OF_QUERIES)];
}

export function readCell(value: unknown, at: number): Cell {
  const fields = fieldsOf(value);
  const w = within(numberOf(fields['w'], EMPTY_CELL.w), 1, COLUMNS);
  const kind = kindOf(textOf(fields['kind']));
  const rows = optionsOf(kind);
  return {
    id: textOf(fields['id'], `cell-${at + 1}`),
    title: textOf(fields['title']),
    kind: kind.id,
    queries: listOf(fields['queries']).slice(0, LIST_MAX).map(readQuery),
    // Earlier documents store options beside the other members.
    options: readOptions({ ...fields, ...fieldsOf(fields['options']) }, rows),
    x: within(numberOf(fields['x'], 0), 0, COLUMNS - w),
    y: within(numberOf(fields['y'], 0), 0, CELLS_MAX * ROWS_MAX),
    w,
    h: within(numberOf(fields['h'], EMPTY_CELL.h), 1, ROWS_MAX),
  };
}

function readQuery(value: unknown): CellQuery {
  const { text, database, label, isHidden } = fieldsOf(value);
  return {
    text: textOf(text),
    database: textOf(database),
    label: textOf(label),
    ...(isHidden === true ? { isHidden } : {}),
  };
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
