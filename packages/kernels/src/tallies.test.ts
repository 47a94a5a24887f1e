// Tallies against plain arrays: every kind of value, windows, groups, many and few values.
import { columnFrom } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { Kernels } from './loader.ts';
import { Tallies } from './tallies.ts';
import type { RankedRows, TallyOptions, TallyWindow } from './tallies.ts';

type NumericType = Exclude<FieldType, 'string'>;
type Row = { readonly time: number; readonly value: FieldValue };

const EVERY = 10;

function open(options: Partial<TallyOptions>): Tallies {
  const common = {
    type: 'float',
    groups: 1,
    start: 0n,
    hasTimes: true,
    descending: false,
  } as const;
  return new Tallies(new Kernels(), { ...common, ...options });
}

function finish<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function addRows(tallies: Tallies, type: NumericType, rows: readonly Row[], group = 0): void {
  const sorted = rows.toSorted((a, b) => a.time - b.time);
  const times = BigInt64Array.from(sorted, ({ time }) => BigInt(time));
  const column = columnFrom(
    type,
    sorted.map(({ value }) => value),
  );
  tallies.add(group, times, column);
}

function valueOf(type: NumericType, word: bigint): FieldValue {
  switch (type) {
    case 'float':
      return new Float64Array(BigUint64Array.of(word).buffer)[0]!;
    case 'integer':
      return BigInt.asIntN(64, word);
    case 'unsigned':
      return word;
    case 'boolean':
      return word === 1n;
  }
}

function grouped<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key) ?? [];
    group.push(item);
    groups.set(key, group);
  }
  return groups;
}

const compare = (a: FieldValue, b: FieldValue): number => (a < b ? -1 : Number(a > b));

const VALUES: Readonly<Record<NumericType, fc.Arbitrary<FieldValue>>> = {
  float: fc.oneof(
    fc.integer({ min: -5, max: 5 }).map((value) => value + 0.25),
    fc.double({ noNaN: true }).map((value) => value + 0),
  ),
  integer: fc.oneof(
    fc.bigInt({ min: -3n, max: 3n }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  ),
  unsigned: fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  boolean: fc.boolean(),
};

function byWindow(rows: readonly Row[]): Map<number, Row[]> {
  return grouped(rows, ({ time }) => Math.floor(time / EVERY) * EVERY);
}

/** The recorded rules of `mode`. */
function modeOf(type: NumericType, rows: readonly Row[]): FieldValue {
  const entries = [...grouped(rows, ({ value }) => value)].map(([value, ofValue]) => {
    const times = ofValue.map(({ time }) => time);
    return { value, count: times.length, first: Math.min(...times), last: Math.max(...times) };
  });
  const most = Math.max(...entries.map(({ count }) => count));
  const tied = entries.filter(({ count }) => count === most);
  tied.sort((a, b) => compare(a.value, b.value));
  let best = tied[0]!;
  if (most === 1 && type !== 'boolean') return best.value;
  for (const larger of tied.slice(1)) {
    if (type === 'boolean' || larger.first <= best.last) best = larger;
  }
  return best.value;
}

function distinctOf(rows: readonly Row[], by: 'first' | 'last'): FieldValue[] {
  const entries = [...grouped(rows, ({ value }) => value)].map(([value, ofValue]) => {
    const times = ofValue.map(({ time }) => time);
    return { value, time: by === 'first' ? Math.min(...times) : Math.max(...times) };
  });
  entries.sort((a, b) => a.time - b.time || compare(a.value, b.value));
  return entries.map(({ value }) => value);
}

function rankedOf(rows: readonly Row[], order: 'top' | 'bottom', size: number): Row[] {
  const sign = order === 'top' ? -1 : 1;
  const better = (a: Row, b: Row): number => compare(a.value, b.value) * sign;
  return rows
    .toSorted((a, b) => better(a, b) || a.time - b.time)
    .slice(0, size)
    .toSorted((a, b) => a.time - b.time || better(a, b));
}

test.each(['float', 'integer', 'unsigned', 'boolean'] as const)(
  'equal what arrays of %s give, whatever the order of the series',
  (type) => {
    const row = fc.record({ time: fc.integer({ min: -40, max: 40 }), value: VALUES[type] });
    const series = fc.array(fc.array(row, { maxLength: 60 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(series, fc.integer({ min: 1, max: 5 }), (parts, size) => {
        const window = { everyNanos: BigInt(EVERY), offsetNanos: 0n };
        const withTimes = open({ type, window });
        const plain = open({ type, window, hasTimes: false });
        const top = open({ type, window, hasTimes: false, ranks: { order: 'top', size } });
        const bottom = open({ type, window, hasTimes: false, ranks: { order: 'bottom', size } });
        const all = [withTimes, plain, top, bottom];
        for (const rows of parts) for (const tallies of all) addRows(tallies, type, rows);

        const expected = byWindow(parts.flat());
        const starts = [...expected.keys()].sort((a, b) => a - b);
        for (const tallies of all) {
          expect(tallies.windowsOf(0).map(({ start }) => Number(start))).toEqual(starts);
          expect(tallies.windowCount).toBe(starts.length);
        }
        for (const [i, start] of starts.entries()) {
          const rows = expected.get(start)!;
          const at = (tallies: Tallies): TallyWindow => tallies.windowsOf(0)[i]!;
          const sorted = rows.map(({ value }) => value).sort(compare);
          for (const tallies of [withTimes, plain]) {
            expect(tallies.valueCount(at(tallies))).toBe(rows.length);
            sorted.forEach((value, rank) => {
              expect(valueOf(type, finish(tallies.select(at(tallies), rank)))).toEqual(value);
              const first = sorted.findIndex((other) => other === value);
              expect(tallies.equalBefore).toBe(rank - first);
            });
          }
          expect(withTimes.distinctCount(at(withTimes))).toBe(new Set(sorted).size);
          expect(valueOf(type, finish(withTimes.mode(at(withTimes))))).toEqual(modeOf(type, rows));
          for (const by of ['first', 'last'] as const) {
            const words = [...finish(withTimes.distinct(at(withTimes), by))];
            expect(words.map((word) => valueOf(type, word))).toEqual(distinctOf(rows, by));
          }
          for (const [order, tallies] of [
            ['top', top],
            ['bottom', bottom],
          ] as const) {
            const { values, times } = tallies.ranked(at(tallies), { descending: false });
            const pairs = Array.from(times, (time, k): Row => {
              return { time: Number(time), value: valueOf(type, values[k]!) };
            });
            expect(pairs).toEqual(rankedOf(rows, order, size));
          }
        }
        for (const tallies of all) tallies.close();
      }),
      { numRuns: 60 },
    );
  },
);

test('many different values become a list, which takes eight bytes for each', () => {
  const kernels = new Kernels();
  const tallies = new Tallies(kernels, {
    type: 'float',
    groups: 1,
    start: 0n,
    hasTimes: false,
    descending: false,
  });
  const count = 300_000;
  const values = Float64Array.from({ length: count }, (_, i) => ((i * 7919) % count) + 0.5);
  const times = BigInt64Array.from({ length: count }, (_, i) => BigInt(i));

  tallies.add(0, times, { type: 'float', values, valid: undefined });

  const [window] = tallies.windowsOf(0);
  for (const rank of [0, 1, 149_999, count - 1]) {
    const steps = tallies.select(window!, rank);
    let pauses = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) pauses++;
    expect(valueOf('float', step.value)).toBe(rank + 0.5);
    expect(pauses).toBeGreaterThan(1);
  }
  expect(tallies.memoryBytes).toBeLessThan(count * 9 + 400_000);
  const used = kernels.exports.memoryInUse();
  tallies.close();
  tallies.close();
  expect(used - kernels.exports.memoryInUse()).toBeGreaterThan(count * 8);
});

test('nulls are no values, groups are apart, and windows without values are none', () => {
  const tallies = open({ groups: 2, window: { everyNanos: 10n, offsetNanos: 3n } });
  const times = BigInt64Array.of(-8n, 2n, 3n, 12n, 13n);
  const values = Float64Array.of(1, 2, 3, 4, 5);
  tallies.add(0, times, { type: 'float', values, valid: Uint8Array.of(0, 1, 1, 1, 0) });
  addRows(tallies, 'float', [{ time: 4, value: 9 }], 1);

  expect(tallies.windowsOf(0).map(({ start }) => start)).toEqual([-7n, 3n]);
  expect(tallies.windowsOf(0).map((window) => tallies.valueCount(window))).toEqual([1, 2]);
  expect(tallies.windowsOf(1).map(({ start }) => start)).toEqual([3n]);
  tallies.reset();
  expect([tallies.windowsOf(0), tallies.windowCount]).toEqual([[], 0]);
  tallies.close();
});

test('both zeros are one value, shown as the first', () => {
  const tallies = open({});
  addRows(tallies, 'float', [
    { time: 1, value: -0 },
    { time: 2, value: 0 },
  ]);

  const [window] = tallies.windowsOf(0);
  expect(tallies.distinctCount(window!)).toBe(1);
  expect(valueOf('float', finish(tallies.mode(window!)))).toBe(-0);
  // An earlier one of another series.
  addRows(tallies, 'float', [{ time: 0, value: 0 }]);
  expect(valueOf('float', finish(tallies.mode(window!)))).toBe(0);
  tallies.close();
});

test.each(['float', 'integer', 'unsigned', 'boolean'] as const)(
  'a value of %s that is hopeless changes no ranking, whenever its row is',
  (type) => {
    const row = fc.record({ time: fc.integer({ min: -40, max: 40 }), value: VALUES[type] });
    let hopeless = 0;
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 30 }),
        row,
        fc.constantFrom('top' as const, 'bottom' as const),
        fc.integer({ min: 1, max: 4 }),
        (rows, { value, time }, order, size) => {
          const tallies = open({ type, hasTimes: false, ranks: { order, size } });
          addRows(tallies, type, rows);
          const ranked = (): RankedRows =>
            tallies.ranked(tallies.windowsOf(0)[0]!, { descending: false });
          const before = ranked();
          if (tallies.isHopeless(tallies.windowsOf(0)[0]!, value as number)) {
            hopeless++;
            addRows(tallies, type, [{ time, value }]);
            expect(ranked()).toEqual(before);
          } else if (rows.length >= size && value !== 0) {
            // Not worse than the worst of the best.
            const worst = rankedOf(rows, order, size).map((each) => each.value);
            const sign = order === 'top' ? 1 : -1;
            expect(worst.some((each) => compare(value, each) * sign >= 0)).toBe(true);
          }
          tallies.close();
        },
      ),
      { numRuns: 300 },
    );
    expect(hopeless).toBeGreaterThan(20);
  },
);
