// The choice of `first` and `last` among rows of equal time equals the one from the heads of the
// series of a shard, wherever these rows are: memtable, segments, blocks of many series.
import { compareBytes, floorMod, NANOS_PER_WEEK } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';
import { pickTied } from '@tidemark/query';
import type { EndFunction, TiedRow } from '@tidemark/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import {
  aggregateRows,
  EVERYTHING,
  numbers,
  scanRows,
  testEngine,
  write,
} from '../testing/fixtures.ts';
import type { Row } from '../testing/fixtures.ts';

const FIELDS: readonly (readonly [string, FieldType])[] = [
  ['f', 'float'],
  ['s', 'string'],
  ['b', 'boolean'],
  ['u', 'string'],
];
const ENDS = ['first', 'last'] as const;

type Size = { readonly seriesCount: number; readonly rows: number };

/** Up to `rows` rows of each series, at about as many times, in two shards. */
function linesOf(seed: number, { seriesCount, rows }: Size): string {
  const next = numbers(seed);
  let lines = '';
  for (let series = 0; series < seriesCount; series++) {
    for (let k = next() % rows; k > 0; k--) {
      const value = next() % 7;
      const fields = [`f=${value}.5`, `s="${value % 3}"`, `b=${value % 2 === 0}`].filter(
        (_, i) => ((next() >> i) & 3) > 0,
      );
      const time = BigInt(next() % (rows - 1)) + BigInt(next() % 2) * NANOS_PER_WEEK;
      const always = `u="${value}"`;
      lines += `m,g=${series % 3},t=${series} ${[...fields, always].join()} ${time}\n`;
    }
  }
  return lines;
}

/** The values picked from a field, by the rows of a group. */
function modelOf(rows: readonly Row[], at: number, name: EndFunction): FieldValue | null {
  const isBetter = (a: bigint, b: bigint): boolean => (name === 'first' ? a < b : a > b);
  const ends = new Map<string, { time: bigint; value: FieldValue }>();
  for (const row of rows) {
    const [series, time] = row;
    const value = row[at + 2] as FieldValue | null;
    const known = ends.get(series);
    if (value === null || (known !== undefined && !isBetter(time, known.time))) continue;
    ends.set(series, { time, value });
  }
  const times = [...ends.values()].map(({ time }) => time);
  const [first] = times;
  if (first === undefined) return null;
  const best = times.reduce((a, b) => (isBetter(b, a) ? b : a), first);
  const shardOf = (time: bigint): bigint => time - floorMod(time, NANOS_PER_WEEK);
  const heads = [...ends]
    .filter(([, { time }]) => shardOf(time) === shardOf(best))
    .sort(([a], [b]) => compareBytes(a, b));
  const tied = heads.flatMap(([, { time, value }], place): TiedRow[] =>
    time === best ? [{ place, value }] : [],
  );
  return pickTied(tied as [TiedRow, ...TiedRow[]], heads.length, name).value;
}

type Plan = {
  readonly seeds: readonly number[];
  readonly flushes: boolean;
  readonly isAll: boolean;
  readonly omitsPointTimes: boolean;
};

async function check({ seeds, flushes, isAll, omitsPointTimes }: Plan, size: Size): Promise<void> {
  const own = await testEngine();
  try {
    for (const seed of seeds) {
      await write(own.engine, linesOf(seed, size));
      if (flushes) await own.engine.flush();
    }
    const timeRange = isAll ? EVERYTHING : { start: 1n, end: NANOS_PER_WEEK + 1n };
    for (const descending of [false, true]) {
      const answer = await aggregateRows(
        own.engine,
        'm',
        FIELDS.map(([field, type]) => ({ field, type, functions: ENDS })),
        { timeRange, groupBy: ['g'], descending, picksTiedByKey: true, omitsPointTimes },
      );

      for (const { tags, values } of answer) {
        const where = { kind: 'tag', key: 'g', operator: '=', value: tags['g']! } as const;
        const rows = await scanRows(own.engine, 'm', FIELDS, { timeRange, where });
        const wanted = FIELDS.flatMap((_, at) => ENDS.map((name) => modelOf(rows, at, name)));
        expect(values.map(([value]) => value)).toEqual(wanted);
      }
    }
  } finally {
    await own.dispose();
  }
}

const plan = fc.record({
  seeds: fc.array(fc.integer({ min: 1, max: 1 << 30 }), { minLength: 1, maxLength: 3 }),
  flushes: fc.boolean(),
  isAll: fc.boolean(),
  omitsPointTimes: fc.boolean(),
});

test('groups of some series', async () => {
  await fc.assert(
    fc.asyncProperty(plan, (one) => check(one, { seriesCount: 40, rows: 4 })),
    { numRuns: 15 },
  );
});

test('groups of series with chunks of their own', async () => {
  await fc.assert(
    fc.asyncProperty(plan, (one) => check(one, { seriesCount: 9, rows: 400 })),
    { numRuns: 5 },
  );
});

test('groups of series that are read in blocks', async () => {
  await fc.assert(
    fc.asyncProperty(plan, (one) => check(one, { seriesCount: 4000, rows: 4 })),
    { numRuns: 3 },
  );
});

test('a group of very many series', async () => {
  const own = await testEngine();
  try {
    const count = 70_000;
    // Ids have the reverse order of keys.
    let lines = '';
    for (let k = count - 1; k >= 0; k--) lines += `m,t=${String(k).padStart(6, '0')} f=${k} 5\n`;
    await write(own.engine, lines);
    const answer = await aggregateRows(
      own.engine,
      'm',
      [{ field: 'f', type: 'float', functions: ENDS }],
      { picksTiedByKey: true },
    );

    // All have one time: the heap gives the first series and the last one, of `last` in reverse.
    expect(answer.map(({ values }) => values.map(([value]) => value))).toEqual([
      [count - 1, count - 1],
    ]);
  } finally {
    await own.dispose();
  }
});
