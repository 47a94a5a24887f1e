// Aggregates equal what is worked out from the rows of a scan, wherever the rows are: memtable,
// segments that overlap, chunks with and without statistics, partly deleted ones, shards in which a
// field has another type.
import { floorMod, NANOS_PER_WEEK } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';
import type { AggregateFunction, WindowSpec } from '@tidemark/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { aggregateRows, EVERYTHING, scanRows, testEngine, write } from '../testing/fixtures.ts';
import type { AggregateRow, Row, TestEngine } from '../testing/fixtures.ts';

/**
 * Types as they are asked for; `i` is a float in the second shard, where `s` is one too, which
 * nobody converts to a string.
 */
const FIELDS = [
  ['f', 'float'],
  ['i', 'integer'],
  ['s', 'string'],
] as const;
const SECOND_SHARD = NANOS_PER_WEEK;

type Step =
  | { readonly kind: 'write'; readonly first: number; readonly rows: readonly WrittenRow[] }
  | { readonly kind: 'delete'; readonly from: number; readonly to: number }
  | { readonly kind: 'flush' | 'compact' };

type WrittenRow = { readonly series: number; readonly value: number; readonly fields: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      first: fc.nat(150),
      rows: fc.array(
        fc.record({
          series: fc.nat(1),
          value: fc.nat(99),
          fields: fc.integer({ min: 1, max: 15 }),
        }),
        { minLength: 20, maxLength: 150 },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('flush' as const, 'compact' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('delete' as const),
      from: fc.nat(300),
      to: fc.nat(300),
    }),
  },
);

const window: fc.Arbitrary<WindowSpec | undefined> = fc.option(
  fc.record({
    everyNanos: fc.bigInt({ min: 1n, max: 200n }),
    offsetNanos: fc.bigInt({ min: 0n, max: 50n }),
  }),
  { nil: undefined },
);

async function apply({ engine }: TestEngine, one: Step): Promise<void> {
  switch (one.kind) {
    case 'flush':
      return engine.flush();
    case 'compact':
      return engine.compact();
    case 'delete': {
      const timeRange = { start: BigInt(one.from), end: BigInt(one.to) };
      return engine.delete({ database: 'db', timeRange });
    }
    case 'write':
      await write(engine, one.rows.map((row, i) => lineOf(row, one.first + i)).join(''));
  }
}

/** A few integers of this size have a sum beyond 64 bits. */
const LARGE = 90_000_000_000_000_000n;

function lineOf({ series, value, fields }: WrittenRow, at: number): string {
  const isInSecond = fields > 8;
  const present = [
    (fields & 1) === 0 ? '' : `f=${value}.5`,
    (fields & 2) === 0 ? '' : isInSecond ? `i=${value}` : `i=${BigInt(value) * LARGE}i`,
    (fields & 4) === 0 ? '' : isInSecond ? `s=${value}` : `s="${value}"`,
  ].filter((text) => text !== '');
  const time = BigInt(at) + (isInSecond ? SECOND_SHARD : 0n);
  return `m,t=${series} ${present.length === 0 ? `f=${value}` : present.join(',')} ${time}\n`;
}

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
  // Floats are halves of small integers: sums are exact in any order.
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

const NUMERIC = ['count', 'sum', 'mean', 'min', 'max', 'spread', 'first', 'last'] as const;
const TEXT = ['count', 'first', 'last'] as const;
const COUNT = ['count'] as const;

function expected(
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

function plain(rows: readonly AggregateRow[]): ReturnType<typeof expected> {
  return rows.map(({ start, values }) => [start, values.map(([value]) => value)]);
}

test('counts alone, and all functions, equal those of the rows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 8 }),
      window,
      fc.tuple(fc.nat(300), fc.nat(300), fc.boolean()),
      async (plan, spec, [from, length, isAll]) => {
        const own = await testEngine();
        try {
          for (const one of plan) await apply(own, one);
          const begin = BigInt(from);
          const timeRange = isAll ? EVERYTHING : { start: begin, end: begin + BigInt(length) };
          const fields = FIELDS.map(([name, type]): readonly [string, FieldType] => [name, type]);
          const rows = await scanRows(own.engine, 'm', fields, { timeRange });

          for (const [numeric, text] of [
            [COUNT, COUNT],
            [NUMERIC, TEXT],
            [NUMERIC, COUNT],
          ] as const) {
            const functions = [numeric, numeric, text];
            const aggregates = FIELDS.map(([field, type], i) => ({
              field,
              type,
              functions: functions[i]!,
            }));
            const answer = await aggregateRows(own.engine, 'm', aggregates, {
              timeRange,
              window: spec,
            });

            expect(plain(answer)).toEqual(
              expected(rows, functions, { spec, start: timeRange.start }),
            );
          }
        } finally {
          await own.dispose();
        }
      },
    ),
    { numRuns: 12 },
  );
});
