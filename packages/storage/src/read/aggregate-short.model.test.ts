// Aggregates over many short series equal those computed from the rows of a scan, whether the rows
// are in the memtable, in shared chunks of one segment or of several, or partly deleted, and some
// series have many rows.
import type { FieldType } from '@tidemark/core';
import { eachBatch } from '@tidemark/query';
import type { Predicate, WindowSpec } from '@tidemark/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { expected, plain } from '../testing/aggregate-model.ts';
import { aggregateRows, EVERYTHING, scanRows, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

const SERIES = 1500;
const GROUPS = 4;

type Step =
  | { readonly kind: 'write'; readonly seed: number; readonly rows: number }
  | { readonly kind: 'long'; readonly series: number }
  | { readonly kind: 'delete'; readonly from: number; readonly to: number }
  | { readonly kind: 'flush' | 'compact' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      seed: fc.integer({ min: 1, max: 1 << 30 }),
      rows: fc.integer({ min: 500, max: 3000 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('flush' as const, 'compact') }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('long' as const), series: fc.nat(SERIES - 1) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('delete' as const),
      from: fc.nat(60),
      to: fc.nat(60),
    }),
  },
);

/** A sequence of small numbers that begins with the seed. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ;) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield state >>> 8;
  }
}

function line(series: number, time: number, value: number): string {
  const fields = [`f=${value}.5`, `i=${value}i`, `s="${value % 3}"`].filter(
    (_, i) => ((value >> i) & 1) === 0 || i === 1,
  );
  return `m,g=${series % GROUPS},t=${series} ${fields.join(',')} ${time}\n`;
}

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
    case 'long': {
      const lines = Array.from({ length: 80 }, (_, i) => line(one.series, i, i % 50));
      return void (await write(engine, lines.join('')));
    }
    case 'write': {
      const random = numbers(one.seed);
      const next = (below: number): number => (random.next().value as number) % below;
      const lines = Array.from({ length: one.rows }, () => line(next(SERIES), next(60), next(50)));
      await write(engine, lines.join(''));
    }
  }
}

/** The value of a tag in a key; `undefined` without one. */
function tagOf(key: string, tag: string | undefined): string | undefined {
  return tag === undefined ? undefined : new RegExp(`,${tag}=(\\d+)`).exec(key)![1];
}

function byGroup<T>(
  all: readonly T[],
  groupOf: (one: T) => string | undefined,
): Map<string | undefined, T[]> {
  const groups = new Map<string | undefined, T[]>();
  for (const one of all) {
    const group = groupOf(one);
    const held = groups.get(group);
    if (held === undefined) groups.set(group, [one]);
    else held.push(one);
  }
  return groups;
}

const FIELDS: readonly (readonly [string, FieldType])[] = [
  ['f', 'float'],
  ['i', 'integer'],
  ['s', 'string'],
];
const NUMERIC = ['count', 'sum', 'mean', 'min', 'max', 'spread', 'first', 'last'] as const;

const CONDITIONS: readonly (Predicate | undefined)[] = [
  undefined,
  { kind: 'tag', key: 'g', operator: '!=', value: '1' },
  { kind: 'field', field: 'i', operator: '>', value: 20n },
  {
    kind: 'and',
    left: { kind: 'tag', key: 'g', operator: '!=', value: '1' },
    right: { kind: 'field', field: 'i', operator: '<=', value: 30n },
  },
];

const windows: fc.Arbitrary<WindowSpec | undefined> = fc.option(
  fc.record({
    everyNanos: fc.bigInt({ min: 1n, max: 40n }),
    offsetNanos: fc.bigInt({ min: 0n, max: 9n }),
  }),
  { nil: undefined },
);

test('aggregates of many short series equal those of the rows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 5 }),
      windows,
      fc.constantFrom(...CONDITIONS),
      fc.option(fc.tuple(fc.nat(60), fc.nat(60)), { nil: undefined }),
      async (plan, window, where, bounds) => {
        const own = await testEngine();
        try {
          // All series are there, so that every request is one of many.
          const all = Array.from({ length: SERIES }, (_, i) => line(i, 7, i % 50));
          await write(own.engine, all.join(''));
          for (const one of plan) await apply(own, one);
          const timeRange = bounds
            ? { start: BigInt(bounds[0]), end: BigInt(bounds[0] + bounds[1]) }
            : EVERYTHING;
          const request = { timeRange, where };
          const rows = await scanRows(own.engine, 'm', FIELDS, request);
          for (const [functions, groupBy] of [
            [[NUMERIC, NUMERIC, ['count', 'first', 'last']], []],
            [[['count'], ['count'], ['count']], []],
            [[NUMERIC, ['sum'], ['last']], ['g']],
            [[['count', 'mean'], ['sum'], ['count']], ['g']],
            [[['max', 'sum'], ['count'], ['last']], ['t']],
          ] as const) {
            const aggregates = FIELDS.map(([field, type], i) => {
              return { field, type, functions: functions[i]! };
            });
            const answer = await aggregateRows(own.engine, 'm', aggregates, {
              ...request,
              window,
              groupBy,
            });
            const how = { spec: window, start: timeRange.start };
            const tag = groupBy[0];
            const wanted = byGroup(rows, ([key]) => tagOf(key, tag));
            const got = byGroup(answer, ({ tags }) => tag && tags[tag]);
            const groups = [...new Set([...wanted.keys(), ...got.keys()])];

            expect(groups.map((group) => plain(got.get(group) ?? []))).toEqual(
              groups.map((group) => expected(wanted.get(group) ?? [], functions, how)),
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

test('chooses the earliest row of equal values, and the larger value of equal times', async () => {
  const own = await testEngine();
  try {
    const at = (series: number): number => 100 - (series % 10);
    const lines = Array.from({ length: SERIES }, (_, i) => `m,t=${i} f=${i % 7} ${at(i)}\n`);
    await write(own.engine, lines.join(''));
    const functions = ['min', 'max', 'first', 'last'] as const;
    const ask = (): ReturnType<typeof aggregateRows> =>
      aggregateRows(own.engine, 'm', [{ field: 'f', type: 'float', functions }]);
    const values = [
      [0, 91n],
      [6, 91n],
      [6, 91n],
      [6, 100n],
    ];

    expect((await ask()).map((row) => row.values)).toEqual([values]);
    await own.engine.flush();
    expect((await ask()).map((row) => row.values)).toEqual([values]);
  } finally {
    await own.dispose();
  }
});

test('blocks are read once, whatever the number of groups', async () => {
  const own = await testEngine();
  try {
    await write(own.engine, Array.from({ length: SERIES }, (_, i) => line(i, 7, i % 50)).join(''));
    await own.engine.flush();
    const chunksRead = async (groupBy: readonly string[]): Promise<number> => {
      const counters = {
        seriesVisited: 0,
        chunksRead: 0,
        chunksSkipped: 0,
        chunksAnsweredByStatistics: 0,
        rowsRead: 0,
        bytesRead: 0,
        readerMs: 0,
      };
      const snapshot = own.engine.source.snapshot();
      const batches = snapshot.aggregate(
        {
          sources: [{ database: 'db', retentionPolicy: 'autogen', measurement: 'm' }],
          timeRange: EVERYTHING,
          descending: false,
          groupBy,
          aggregates: [{ field: 'i', type: 'integer', functions: ['max'] }],
        },
        { signal: new AbortController().signal, counters },
      );
      for await (const batch of eachBatch(batches)) expect(batch.windowStarts.length).toBe(1);
      snapshot.close();
      return counters.chunksRead;
    };

    expect(await chunksRead(['t'])).toBe(await chunksRead([]));
  } finally {
    await own.dispose();
  }
});
