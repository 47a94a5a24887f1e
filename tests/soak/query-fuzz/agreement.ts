// How far two different results agree: an excused difference leaves the rest of the result
// unaffected, and that rest is compared.
import { FLOAT_TOLERANCE, parseAnswer } from './compare.ts';
import type { Answer } from './server.ts';

type Row = readonly unknown[];

/** Rows of one name and one set of tags. */
type Series = { readonly key: string; readonly columns: readonly string[]; readonly rows: Row[] };

type Result = { readonly error: string | undefined; readonly series: readonly Series[] };

export type Latitude = {
  /** Cells that may differ; a row is known by the others. */
  readonly cells?: ((column: string, index: number) => boolean) | undefined;
  /**
   * How rows of a series correspond; by default one by one. `merged`: those of one time are one,
   * with the cells that any of them has. `columns`: each column has the same values.
   */
  readonly rows?: 'any-order' | 'once-each' | 'merged' | 'columns' | undefined;
  /** The side that may have rows and series that the other lacks. */
  readonly more?: 'reference' | 'candidate' | 'both' | undefined;
};

/** Whether two answers without errors are the same but for what they may differ in. */
export function agree(reference: Answer, candidate: Answer, latitude: Latitude): boolean {
  const left = seriesOf(reference);
  const right = seriesOf(candidate);
  if (left === undefined || right === undefined) return false;
  const theirs = rowsOf(left, latitude);
  const ours = rowsOf(right, latitude);
  const { more } = latitude;
  if (!canHaveMore(more, 'reference') && !holds(ours, theirs)) return false;
  if (!canHaveMore(more, 'candidate') && !holds(theirs, ours)) return false;
  for (const [key, a] of theirs) {
    const b = ours.get(key);
    if (b !== undefined && !alike(a, b, latitude)) return false;
  }
  return true;
}

/** Texts of the rows that are compared, by series. The reference server may send one in parts. */
function rowsOf(
  series: readonly Series[],
  { cells, rows }: Latitude,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Row[]>();
  for (const { key, columns, rows: all } of series) {
    const place = `${key} ${columns.join(',')}`;
    const kept = all.map((row) => row.filter((_, i) => cells?.(columns[i] ?? '', i) !== true));
    found.set(place, [...(found.get(place) ?? []), ...kept]);
  }
  return new Map(
    [...found].map(([place, all]) => {
      if (rows === 'columns') return [place, cellTexts(all)];
      return [place, (rows === 'merged' ? merged(all) : all).map(textOf)];
    }),
  );
}

const placesOf = (answer: Answer): readonly string[] =>
  (seriesOf(answer) ?? []).map(({ key, columns }) => `${key} ${columns.join(',')}`);

/** Whether the reference server has sent a series in parts: each of them is filled by itself. */
export function isInParts(reference: Answer): boolean {
  const places = placesOf(reference);
  return new Set(places).size < places.length;
}

/** Whether both have the same series with the same columns. */
export function hasSameSeries(reference: Answer, candidate: Answer): boolean {
  const theirs = new Set(placesOf(reference));
  const ours = new Set(placesOf(candidate));
  return theirs.size === ours.size && [...theirs].every((place) => ours.has(place));
}

/** One row for each time. */
function merged(rows: readonly Row[]): readonly Row[] {
  const byTime = new Map<unknown, Row>();
  for (const row of rows) {
    const before = byTime.get(row[0]);
    byTime.set(row[0], before === undefined ? row : row.map((cell, i) => cell ?? before[i]));
  }
  return [...byTime.values()];
}

/** Every cell that has a value, with the place of its column. Times are not compared. */
function cellTexts(rows: readonly Row[]): readonly string[] {
  return rows.flatMap((row) =>
    row.flatMap((cell, i) => (i === 0 || cell === null ? [] : [textOf([i, cell])])),
  );
}

function holds(all: ReadonlyMap<string, unknown>, some: ReadonlyMap<string, unknown>): boolean {
  return [...some.keys()].every((key) => all.has(key));
}

function canHaveMore(more: Latitude['more'], who: 'reference' | 'candidate'): boolean {
  return more === who || more === 'both';
}

function alike(
  reference: readonly string[],
  candidate: readonly string[],
  { rows, more }: Latitude,
): boolean {
  if (more === undefined && rows === undefined) {
    return (
      reference.length === candidate.length && reference.every((row, i) => row === candidate[i])
    );
  }
  const count = (all: readonly string[]): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const row of all) counts.set(row, rows === 'once-each' ? 1 : (counts.get(row) ?? 0) + 1);
    return counts;
  };
  const [a, b] = [count(reference), count(candidate)];
  const covers = (big: Map<string, number>, small: Map<string, number>): boolean =>
    [...small].every(([row, n]) => (big.get(row) ?? 0) >= n);
  return (
    (canHaveMore(more, 'reference') || covers(b, a)) &&
    (canHaveMore(more, 'candidate') || covers(a, b))
  );
}

/** Cells as text, floats without the digits that depend on the order of a sum. */
function textOf(cells: Row): string {
  const digits = -Math.log10(FLOAT_TOLERANCE);
  return JSON.stringify(cells, (_key, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? value.toPrecision(digits) : value,
  );
}

/** The series of an answer; `undefined` when it has an error or is no document. */
export function seriesOf(answer: Answer): readonly Series[] | undefined {
  const result = readAnswer(answer);
  return result?.error === undefined ? result?.series : undefined;
}

/** The only statement of an answer; `undefined` when it is no document. */
export function readAnswer({ body }: Answer): Result | undefined {
  const document = parseAnswer(body);
  if (document === undefined) return undefined;
  const { results } = document.value as { readonly results?: unknown };
  const [result] = (results ?? []) as readonly {
    readonly error?: string;
    readonly series?: readonly {
      readonly name?: string;
      readonly tags?: Readonly<Record<string, string>>;
      readonly columns: readonly string[];
      readonly values?: Row[];
    }[];
  }[];
  if (result === undefined) return undefined;
  return {
    error: result.error,
    series: (result.series ?? []).map(({ name, tags, columns, values }) => ({
      key: JSON.stringify([name, tags]),
      columns,
      rows: values ?? [],
    })),
  };
}
