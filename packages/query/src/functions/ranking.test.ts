import { columnFrom, columnValue } from '@tidemark/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { PointWriter } from '../batch/point-writer.ts';
import { RankingAccumulator } from './ranking.ts';
import { finishSteps } from './steps.ts';

type Row = { readonly time: bigint; readonly value: number; readonly tags: readonly string[] };
type Spec = ConstructorParameters<typeof RankingAccumulator>[0];

/** Values of the points of a window that come in batches, and the most bytes that were held. */
function ranked(spec: Spec, batches: readonly (readonly Row[])[], descending = false) {
  let held = 0;
  let most = 0;
  const accumulator = new RankingAccumulator(spec, {
    inputType: 'float',
    descending,
    random: () => 0,
    needsRow: true,
    hold: (bytes) => {
      held += bytes;
      most = Math.max(most, held);
    },
  });
  const out = new PointWriter('float', []);
  for (const rows of batches) {
    const column = columnFrom(
      'float',
      rows.map(({ value }) => value),
    );
    const tags = [0, 1].map((tag) =>
      columnFrom(
        'string',
        rows.map((row) => row.tags[tag] ?? null),
      ),
    );
    const times = BigInt64Array.from(rows, ({ time }) => time);
    accumulator.add({ times, column, columns: [column, ...tags] }, 0, rows.length);
  }
  const steps = accumulator.emit(undefined, out);
  if (steps !== undefined) finishSteps(steps);
  const { times, columns } = out.take();
  const points = Array.from(times, (time, i) => [time, columnValue(columns[0]!, i)] as const);
  return { points, most, left: held };
}

/** All rows sorted, the first of each combination, the first of those. */
function model({ kind, size, distinctInputs }: Spec, rows: readonly Row[], descending: boolean) {
  const better = (a: Row, b: Row): number => {
    if (a.value !== b.value) return kind === 'top' ? b.value - a.value : a.value - b.value;
    return Number(a.time - b.time);
  };
  const sorted = rows.toSorted(better);
  const combinations = new Set<string>();
  const best: Row[] = [];
  for (const row of sorted) {
    const tags = distinctInputs.map((input) => row.tags[input - 1] ?? null);
    const key = distinctInputs.length === 0 ? String(best.length) : JSON.stringify(tags);
    if (combinations.has(key) || best.length === size) continue;
    combinations.add(key);
    best.push(row);
  }
  const inTime = (a: Row, b: Row): number => Number(descending ? b.time - a.time : a.time - b.time);
  return best.toSorted(inTime).map(({ time, value }) => [time, value] as const);
}

/** A small table of combinations keeps its memory for the next window. */
const EMPTY_TABLE_BYTES = 320;

const TAGS = fc.constantFrom('', 'a', 'b', '1:a', 'a1:', '-');

describe('top and bottom', () => {
  test('keep the best points, one per combination of tags', () => {
    const row = fc.record({
      time: fc.bigInt({ min: 0n, max: 20n }),
      value: fc.integer({ min: 0, max: 6 }),
      tags: fc.array(TAGS, { maxLength: 2 }),
    });
    fc.assert(
      fc.property(
        fc.constantFrom('top' as const, 'bottom' as const),
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom([], [1], [2], [1, 2]),
        fc.array(fc.array(row, { maxLength: 12 }), { maxLength: 5 }),
        fc.boolean(),
        (kind, size, distinctInputs, batches, descending) => {
          const spec = { kind, size, distinctInputs };

          const { points, left } = ranked(spec, batches, descending);

          expect(points).toEqual(model(spec, batches.flat(), descending));
          expect(left).toBeLessThanOrEqual(EMPTY_TABLE_BYTES);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('hold no more combinations than points are asked for', () => {
    const tag = (i: number): string => `${i}`.padStart(1000, 'x');
    const batches = Array.from({ length: 2000 }, (_, i) => [
      { time: BigInt(i), value: i, tags: [tag(i)] },
    ]);

    const { points, most } = ranked({ kind: 'top', size: 5, distinctInputs: [1] }, batches);

    expect(points.map(([, value]) => value)).toEqual([1995, 1996, 1997, 1998, 1999]);
    expect(most).toBeLessThan(40_000);
  });
});
