import { columnFrom, columnValue } from '@tidemark/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { isStrictlyAscending, lowerBound, mergeRuns, unorderedRuns } from './run.ts';
import type { Run } from './run.ts';

const rows = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), fc.option(fc.nat(99))), {
  minLength: 1,
  maxLength: 30,
});

/** Times of both signs, whose halves of 32 bits differ in either. */
function timeOf(n: number): bigint {
  return BigInt(n - 10) * 2n ** 58n + BigInt(n) * 0x7000_0000n;
}

function runOf(list: readonly (readonly [number, number | null])[]): Run {
  return {
    times: BigInt64Array.from(list, ([time]) => timeOf(time)),
    columns: [
      columnFrom(
        'float',
        list.map(([, value]) => value),
      ),
      undefined,
    ],
  };
}

test('lowerBound finds the first time that is not below, from any position', () => {
  const ascending = fc.uniqueArray(fc.integer({ min: -50, max: 50 }), { maxLength: 40 });
  fc.assert(
    fc.property(ascending, fc.integer({ min: -60, max: 60 }), fc.nat(40), (list, time, from) => {
      const times = BigInt64Array.from(
        list.sort((a, b) => a - b),
        BigInt,
      );
      const start = Math.min(from, times.length);
      const tail = times.subarray(start);
      const expected = tail.findIndex((other) => other >= BigInt(time));
      const found = lowerBound(times, BigInt(time), start);
      expect(found).toBe(expected < 0 ? times.length : start + expected);
    }),
  );
});

test('merging keeps one row per time, each field from the last run that has it', () => {
  fc.assert(
    fc.property(fc.array(rows, { minLength: 1, maxLength: 4 }), (lists) => {
      const model = new Map<number, number | null>();
      for (const list of lists) {
        for (const [time, value] of list) model.set(time, value ?? model.get(time) ?? null);
      }
      const merged = mergeRuns(lists.map(runOf));
      const column = merged.columns[0]!;
      const found = Array.from(merged.times, (time, i) => [time, columnValue(column, i)]);
      const sorted = [...model].sort((a, b) => a[0] - b[0]);
      expect(found).toEqual(sorted.map(([n, value]) => [timeOf(n), value]));
      expect(merged.columns[1]).toBeUndefined();
    }),
  );
});

test('unorderedRuns finds those whose times do not ascend strictly', () => {
  const times = fc.oneof(
    fc.array(fc.integer({ min: 0, max: 20 }).map(timeOf), { maxLength: 12 }),
    // Neighbours around the borders of the halves.
    fc
      .array(fc.bigInt(-3n, 3n), { maxLength: 4 })
      .map((list) =>
        list.map((n, i) => n + [-(1n << 32n), -(1n << 31n), 0n, 1n << 31n, 1n << 32n][i % 5]!),
      ),
    fc.uniqueArray(fc.bigInt(-(1n << 33n), 1n << 33n)).map((list) => list.sort(compareInt64)),
  );
  fc.assert(
    fc.property(fc.array(times, { maxLength: 5 }), (runs) => {
      const ends: number[] = [];
      for (const run of runs) ends.push((ends.at(-1) ?? 0) + run.length);
      const wanted = runs.flatMap((run, i) =>
        run.some((time, row) => row > 0 && time <= run[row - 1]!) ? [i] : [],
      );

      const all = BigInt64Array.from(runs.flat());
      expect(unorderedRuns(all, Uint32Array.from(ends))).toEqual(wanted);
      expect(runs.map((run) => isStrictlyAscending(BigInt64Array.from(run)))).toEqual(
        runs.map((_, i) => !wanted.includes(i)),
      );
    }),
  );
});

function compareInt64(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}
