// The expected aggregates, computed from the rows of a scan. Floats must be multiples of a half of
// small integers: their sums are exact in any order.
import { floorMod } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';
import type { AggregateFunction, WindowSpec } from '@tidemark/query';

import type { AggregateRow, Row } from './fixtures.ts';

/** Windows of one field's function over the rows, by their starts. */
function windowsOf(
  rows: readonly Row[],
  at: number,
  how: {
    readonly name: AggregateFunction;
    readonly spec: WindowSpec | undefined;
    readonly start: bigint;
  },
): Map<bigint, FieldValue> {
  const values = new Map<bigint, { value: FieldValue; time: bigint }[]>();
  for (const row of rows) {
    const value = row[at + 2] as FieldValue | null;
    if (value === null) continue;
    const time = row[1];
    const { spec } = how;
    const begin =
      spec === undefined ? how.start : time - floorMod(time - spec.offsetNanos, spec.everyNanos);
    const held = values.get(begin);
    if (held === undefined) values.set(begin, [{ value, time }]);
    else held.push({ value, time });
  }
  return new Map(Array.from(values, ([begin, held]) => [begin, resultOf(how.name, held)]));
}

type Point = { readonly value: FieldValue; readonly time: bigint };

function resultOf(name: AggregateFunction, points: readonly Point[]): FieldValue {
  const numbers = points.map(({ value }) => value as number | bigint);
  const sorted = numbers.toSorted((a, b) => (a < b ? -1 : 1));
  const [least, most] = [sorted[0]!, sorted.at(-1)!];
  const sum = numbers.reduce((a, b) => ((a as number) + (b as number)) as number | bigint);
  switch (name) {
    case 'count':
      return BigInt(points.length);
    case 'sum':
      return typeof sum === 'bigint' ? BigInt.asIntN(64, sum) : sum;
    case 'mean':
      return Number(sum) / points.length;
    case 'min':
      return least;
    case 'max':
      return most;
    case 'spread':
      return ((most as number) - (least as number)) as number | bigint;
    case 'first':
    case 'last':
      return endOf(name, points);
  }
}

/** Among equal times the larger value, of the two series of a group. */
function endOf(name: 'first' | 'last', points: readonly Point[]): FieldValue {
  const before = (a: Point, b: Point): boolean =>
    name === 'first' ? a.time < b.time : a.time > b.time;
  return points.reduce((best, point) =>
    before(point, best) || (point.time === best.time && point.value > best.value) ? point : best,
  ).value;
}

/** Windows by their starts, and the values of all functions of all fields in each. */
export function expected(
  rows: readonly Row[],
  functions: readonly (readonly AggregateFunction[])[],
  how: { readonly spec: WindowSpec | undefined; readonly start: bigint },
): readonly (readonly [bigint, readonly (FieldValue | null)[]])[] {
  const columns = functions.flatMap((names, at) =>
    names.map((name) => windowsOf(rows, at, { name, ...how })),
  );
  const starts = new Set(columns.flatMap((column) => [...column.keys()]));
  return [...starts]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((start) => [start, columns.map((column) => column.get(start) ?? null)]);
}

/** The answer of an engine, in the form of `expected`. */
export function plain(rows: readonly AggregateRow[]): ReturnType<typeof expected> {
  return rows.map(({ start, values }) => [start, values.map(([value]) => value)]);
}
