// Aggregates equal those computed from the rows of a scan, wherever the rows are: memtable,
// segments that overlap, chunks with and without statistics, partly deleted ones, shards in which a
// field has another type.
import { NANOS_PER_WEEK } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import type { WindowSpec } from '@tidemark/query';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { expected, plain } from '../testing/aggregate-model.ts';
import { aggregateRows, EVERYTHING, scanRows, testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';

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

const NUMERIC = ['count', 'sum', 'mean', 'min', 'max', 'spread', 'first', 'last'] as const;
const TEXT = ['count', 'first', 'last'] as const;
const COUNT = ['count'] as const;

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
