// An option of a cell, as a row of a table: its name in documents, its default, its editor, and its
// counterpart in the dashboards of other systems.
import { fieldsOf, numberOf, textOf } from '../dashboards/fields.ts';
import type { Fields } from '../dashboards/fields.ts';

/** How an option is edited. Composite ones have a component of their own. */
export type OptionEditor =
  | { readonly kind: 'check' }
  | { readonly kind: 'number' }
  /** Milliseconds, typed as `5m`. */
  | { readonly kind: 'duration' }
  | { readonly kind: 'text'; readonly rows?: number | undefined }
  | { readonly kind: 'choice'; readonly choices: Readonly<Record<string, string>> }
  | { readonly kind: 'unit' }
  | { readonly kind: 'thresholds' }
  | { readonly kind: 'mappings' }
  /** Some of the aggregates of `charts/calc.ts`. */
  | { readonly kind: 'calcs' }
  | { readonly kind: 'overrides' }
  | { readonly kind: 'transformations' }
  /** Not edited: only an import sets it. */
  | { readonly kind: 'none' };

/** A Grafana panel: the whole panel, and the parts that options are read from. */
export type GrafanaPanel = {
  readonly panel: Fields;
  readonly type: string;
  /** `fieldConfig.defaults` and its `custom` part. */
  readonly defaults: Fields;
  readonly custom: Fields;
  /** `options` of newer panels. */
  readonly options: Fields;
};

/** Sections of the editor; options without a group are in `display`. */
export const OPTION_GROUPS = [
  'display',
  'axis',
  'lines',
  'legend',
  'thresholds',
  'mappings',
  'overrides',
  'transformations',
  'query',
  'cell',
] as const;
export type OptionGroup = (typeof OPTION_GROUPS)[number];

export type OptionRow<T> = {
  readonly name: string;
  readonly group?: OptionGroup | undefined;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly editor: OptionEditor;
  /** Converts any content of a document to a value. */
  readonly read: (value: unknown) => T;
  /**
   * Paths of the option in Grafana panels, `path=value` where it reads only that value; an import
   * reports members that no option reads.
   */
  readonly grafanaPaths?: readonly string[] | undefined;
  /** The value from a Grafana panel; `undefined` when it has none. */
  readonly fromGrafana?: ((panel: GrafanaPanel) => T | undefined) | undefined;
  /** The value from a Chronograf cell. */
  readonly fromChronograf?: ((cell: Fields) => T | undefined) | undefined;
};

/** Values of options by their names. */
export type Options = Readonly<Record<string, unknown>>;

type Row<T> = Omit<OptionRow<T>, 'read' | 'editor'>;

export const check = (row: Row<boolean>, initial = false): OptionRow<boolean> => ({
  ...row,
  editor: { kind: 'check' },
  read: (value) => (typeof value === 'boolean' ? value : initial),
});

/** A number that may be left out. */
export const optionalNumber = (row: Row<number | undefined>): OptionRow<number | undefined> => ({
  ...row,
  editor: { kind: 'number' },
  read: (value) => numberOf(value, undefined),
});

export const optionalDuration = (row: Row<number | undefined>): OptionRow<number | undefined> => ({
  ...row,
  editor: { kind: 'duration' },
  read: (value) => numberOf(value, undefined),
});

export const number = (row: Row<number>, initial: number): OptionRow<number> => ({
  ...row,
  editor: { kind: 'number' },
  read: (value) => numberOf(value, initial),
});

export const text = (row: Row<string>, initial = '', rows?: number): OptionRow<string> => ({
  ...row,
  editor: { kind: 'text', rows },
  read: (value) => textOf(value, initial),
});

export function choice<T extends string>(
  row: Row<T>,
  choices: Readonly<Record<T, string>>,
  initial: T,
): OptionRow<T> {
  const isKnown = (value: unknown): value is T =>
    typeof value === 'string' && Object.hasOwn(choices, value);
  return {
    ...row,
    editor: { kind: 'choice', choices },
    read: (value) => (isKnown(value) ? value : initial),
  };
}

/** The value of an option. */
export function valueOf<T>(cell: { readonly options: Options }, option: OptionRow<T>): T {
  return option.read(cell.options[option.name]);
}

/** The values of a table's options that differ from their defaults. */
export function readOptions(value: unknown, rows: readonly OptionRow<unknown>[]): Options {
  const fields = fieldsOf(value);
  const read = rows
    .filter(({ name }) => fields[name] !== undefined)
    .map((row) => [row.name, row.read(fields[row.name])] as const);
  return Object.fromEntries(read.filter(([, each]) => each !== undefined));
}
