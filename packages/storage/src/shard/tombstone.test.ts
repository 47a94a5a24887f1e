// Tombstones, however many and in whatever order, compared with checking each of them for each row.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { DeletedRanges } from './deleted-ranges.ts';
import { deletedIn, sharedSeries, withSharedSeries, withTombstones } from './tombstone.ts';
import type { Tombstone } from './tombstone.ts';

const tombstone: fc.Arbitrary<Tombstone> = fc
  .record({
    sequence: fc.integer({ min: 1, max: 4 }),
    measurementId: fc.constantFrom(0, 1),
    series: fc.option(fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { minLength: 1 }), {
      nil: undefined,
    }),
    start: fc.integer({ min: 0, max: 30 }),
    length: fc.integer({ min: 0, max: 8 }),
  })
  .map(({ series, start, length, ...rest }) => ({
    ...rest,
    series: series && Uint32Array.from(series).sort(),
    timeRange: { start: BigInt(start), end: BigInt(start + length) },
    freesTypes: false,
  }));

const TIMES = BigInt64Array.from({ length: 40 }, (_, i) => BigInt(i));

function isDeleted(
  tombstones: readonly Tombstone[],
  row: { measurementId: number; sequence: number; series: number; time: bigint },
): boolean {
  return tombstones.some(
    ({ measurementId, sequence, series, timeRange: { start, end } }) =>
      measurementId === row.measurementId &&
      sequence > row.sequence &&
      (series === undefined || series.includes(row.series)) &&
      start <= row.time &&
      row.time <= end,
  );
}

test('rows are deleted as each tombstone says, in segments from before it', () => {
  fc.assert(
    fc.property(fc.array(tombstone, { maxLength: 12 }), (list) => {
      const shared = withSharedSeries(list);
      for (const [measurementId, sequence] of [
        [0, 0],
        [0, 2],
        [1, 3],
      ] as const) {
        const deleted = deletedIn(shared, { measurementId, sequence }) ?? DeletedRanges.of([]);
        const ids = [0, 2, 5];
        const rows = ids.flatMap((series) => [...TIMES].map((time) => ({ series, time })));
        const ends = ids.map((_, i) => (i + 1) * TIMES.length);
        const times = BigInt64Array.from(rows, ({ time }) => time);
        const keep = deleted.rowsLeft({ ids, ends }, times);
        const isLeft = rows.map((row) => !isDeleted(list, { ...row, measurementId, sequence }));
        expect(rows.map((_, i) => keep?.[i] !== 0)).toEqual(isLeft);
        expect(keep === undefined).toBe(isLeft.every(Boolean));

        for (const [minTime, maxTime] of [
          [3n, 3n],
          [5n, 12n],
          [0n, 39n],
        ] as const) {
          const span = { minTime, maxTime };
          const isGone = (series: number): boolean[] => {
            const within = rows.map(({ time }) => time >= minTime && time <= maxTime);
            return isLeft.flatMap((left, i) =>
              within[i] && rows[i]!.series === series ? !left : [],
            );
          };
          for (const series of ids) {
            const gone = isGone(series);
            const what = gone.every(Boolean) ? 'all' : gone.some(Boolean) ? 'part' : 'none';
            expect(deleted.coverage([series], span)).toBe(what);
          }
          for (const [i, series] of ids.entries()) {
            const own = isLeft.slice(i * TIMES.length, ends[i]);
            expect(deleted.hasRowLeft(series, TIMES)).toBe(own.some(Boolean));
          }
          const gone = ids.flatMap(isGone);
          const ofSome = deleted.coverage(ids, span);
          if (ofSome !== 'part') expect(gone).toEqual(gone.map(() => ofSome === 'all'));
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('tombstones that are added one by one delete what they would as one list', () => {
  fc.assert(
    fc.property(fc.array(tombstone, { maxLength: 12 }), fc.nat(12), (some, known) => {
      const list = some.map((one, i) => ({ ...one, sequence: i + 1 }));
      const all = (of: readonly Tombstone[]) =>
        [0, 2, 5].flatMap((sequence) =>
          [0, 1, 2, 3, 4, 5].map(
            (series) => deletedIn(of, { measurementId: 0, sequence })?.ofSeries(series) ?? [],
          ),
        );
      let added: readonly Tombstone[] = [];
      let before = added;
      for (const [i, one] of list.entries()) {
        // What was asked for is added to, and the list from before stays as it is.
        if (i === known) all(added);
        before = added;
        added = withTombstones(added, [one]);
      }

      expect(all(added)).toEqual(all([...list]));
      expect(all(before)).toEqual(all(list.slice(0, -1)));
    }),
    { numRuns: 300 },
  );
});

test('series of many deletes keep sharing their ranges', () => {
  const series = Uint32Array.from({ length: 1000 }, (_, i) => i * 3);
  let deleted = DeletedRanges.of([]);
  for (let i = 0n; i < 20n; i++) {
    deleted = deleted.with({ series, timeRange: { start: i * 10n, end: i * 10n + 4n } });
  }

  expect(deleted.ofSeries(2997)).toHaveLength(20);
  expect(deleted.ofSeries(2997)).toBe(deleted.ofSeries(0));
  expect(deleted.ofSeries(1)).toEqual([]);
});

test('deletes of the same series share their ids, and are one set of ranges', () => {
  const of = (sequence: number, start: bigint, end: bigint): Tombstone => ({
    sequence,
    measurementId: 1,
    series: Uint32Array.of(2, 4, 6),
    timeRange: { start, end },
    freesTypes: false,
  });

  const list = withSharedSeries([of(1, 0n, 9n), of(2, 20n, 29n), of(3, 10n, 14n)]);

  expect(new Set(list.map(({ series }) => series)).size).toBe(1);
  expect(sharedSeries(list, Uint32Array.of(2, 4, 6))).toBe(list[0]!.series);
  expect(sharedSeries(list, Uint32Array.of(2, 4))).toEqual(Uint32Array.of(2, 4));
  expect(deletedIn(list, { measurementId: 1, sequence: 0 })?.ofSeries(4)).toEqual([
    { start: 0n, end: 14n },
    { start: 20n, end: 29n },
  ]);
});
