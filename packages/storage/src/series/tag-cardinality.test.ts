// Numbers of values per tag key: exact ones are exact, estimates are close.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { finish } from '../schedule/steps.ts';
import { HyperLogLog } from './hyperloglog.ts';
import { MeasurementIndex } from './measurement-index.ts';
import type { TagColumn } from './measurement-index.ts';
import { TagCardinalities } from './tag-cardinality.ts';
import type { Cardinality } from './tag-cardinality.ts';

test.each([10, 1000, 5000, 12_000, 100_000, 1_000_000])(
  'an estimate of %i ids is at most 6 % off',
  (count) => {
    const sketch = new HyperLogLog();

    for (let id = 0; id < count; id++) sketch.add(id * 3 + 7);
    for (let id = 0; id < Math.min(count, 1000); id++) sketch.add(id * 3 + 7);

    expect(Math.abs(sketch.estimate() / count - 1)).toBeLessThan(0.06);
  },
);

/** A measurement whose series have these values (0 is none) of one key. */
function measured(values: readonly number[]): {
  readonly measurement: MeasurementIndex;
  readonly column: TagColumn;
  add(value: number): void;
} {
  const measurement = new MeasurementIndex(0, 'm', 0);
  const column = measurement.columnAt(0, 0, () => 'key');
  const add = (value: number): void => {
    const ordinal = measurement.addSeries(measurement.seriesCount);
    measurement.liveSeries++;
    if (value > 0) measurement.setColumn(column, ordinal, value - 1);
  };
  for (const value of values) add(value);
  return { measurement, column, add };
}

const nothingRemoved = (): boolean => false;

test('few values are counted exactly, those of later series too', () => {
  const values = fc.array(fc.nat(30), { maxLength: 80 });
  fc.assert(
    fc.property(values, values, (first, later) => {
      const { measurement, column, add } = measured(first);
      const counters = new TagCardinalities();
      const count = (): Cardinality => finish(counters.of(measurement, column, nothingRemoved));
      const distinct = (all: readonly number[]): number => new Set(all.filter((v) => v > 0)).size;

      expect(count()).toEqual({ count: distinct(first), isExact: true });
      for (const value of later) add(value);
      expect(count()).toEqual({ count: distinct([...first, ...later]), isExact: true });
    }),
  );
});

test('many values are estimated, and said to be', () => {
  const { measurement, column, add } = measured(Array.from({ length: 16_384 }, (_, i) => i + 1));
  const counters = new TagCardinalities();
  const count = (): Cardinality => finish(counters.of(measurement, column, nothingRemoved));

  expect(count()).toEqual({ count: 16_384, isExact: true });
  for (let i = 0; i < 20_000; i++) add(16_385 + i);
  const { count: estimate, isExact } = count();

  expect(isExact).toBe(false);
  expect(Math.abs(estimate / 36_384 - 1)).toBeLessThan(0.06);
});

test('values that only deleted series had are not counted any more', () => {
  const { measurement, column } = measured([1, 2, 2, 3]);
  const counters = new TagCardinalities();
  finish(counters.of(measurement, column, nothingRemoved));

  measurement.removals++;
  measurement.removedSeries += 2;
  measurement.liveSeries -= 2;
  const left = finish(
    counters.of(measurement, column, (ordinal) => ordinal === 0 || ordinal === 1),
  );

  expect(left).toEqual({ count: 2, isExact: true });
});

test('a count is not called exact while a series is not there for readers', () => {
  const { measurement, column } = measured([1, 2]);
  measurement.liveSeries--;

  const counted = finish(new TagCardinalities().of(measurement, column, nothingRemoved));

  expect(counted).toEqual({ count: 2, isExact: false });
});
