import fc from 'fast-check';
import { expect, test } from 'vitest';

import { lowerBound, statsOf } from './data.ts';
import { alignSeries, Sampler } from './sample.ts';
import type { SampledSpan } from './sample.ts';
import type { ChartSeries } from './data.ts';

const series = (values: readonly number[]) => ({
  label: 'a',
  times: Float64Array.from(values, (_, i) => i * 10),
  values: Float64Array.from(values),
});

const sampleSeries = (one: ChartSeries, span: SampledSpan) => new Sampler(one).sample(span);

test('few points stay as they are, with one beyond each side', () => {
  const sampled = sampleSeries(series([1, 2, 3, 4, 5, 6]), { from: 20, to: 30, columns: 100 });

  expect(sampled).toEqual({ times: [10, 20, 30, 40], values: [2, 3, 4, 5] });
});

test('statistics have the first and the last point of a span, however long ago 1970 is', () => {
  const now = { ...series([1, 2, 9]), times: Float64Array.of(0, 10, 20).map((ms) => ms + 1.7e12) };

  expect(statsOf(now, 1.7e12, 1.7e12 + 20)).toMatchObject({ count: 3, max: 9, last: 9 });
  expect(statsOf(now, 1.7e12 + 5, 1.7e12 + 15)).toMatchObject({ count: 1, last: 2 });
});

test('many points become few, and none of the extremes is lost', () => {
  const column = fc.array(
    fc.oneof({ weight: 9, arbitrary: fc.double({ noNaN: true }) }, fc.constant(NaN)),
    { minLength: 50, maxLength: 400 },
  );
  fc.assert(
    fc.property(column, fc.integer({ min: 1, max: 20 }), (values, columns) => {
      const whole = series(values);
      const to = (values.length - 1) * 10;
      const { values: sampled, times } = sampleSeries(whole, { from: 0, to, columns });

      const kept = sampled.filter((value) => value !== null);
      const all = statsOf(whole, 0, to);
      if (all.count > 0) {
        expect(kept.reduce((a, b) => Math.min(a, b))).toBe(all.min);
        expect(kept.reduce((a, b) => Math.max(a, b))).toBe(all.max);
      }
      expect(times.length).toBeLessThanOrEqual(columns * 5 + 5);
      expect(times).toEqual([...times].toSorted((a, b) => a - b));
      if (values.some(Number.isNaN)) expect(sampled).toContain(null);
    }),
  );
});

test('each column of pixels keeps its own extremes', () => {
  const values = Array.from({ length: 1000 }, (_, i) => (i === 333 ? 99 : i === 334 ? -99 : 0));
  const { times, values: sampled } = sampleSeries(series(values), {
    from: 0,
    to: 9990,
    columns: 10,
  });

  const ofColumn = sampled.filter((_, i) => (times[i] ?? 0) >= 2997 && (times[i] ?? 0) < 3996);
  expect(ofColumn).toEqual([0, 99, -99, 0]);
});

test('a picture that has moved is sampled as if it had always been there', () => {
  const whole = series(Array.from({ length: 3000 }, (_, i) => Math.sin(i * 7) * i));
  const sampler = new Sampler(whole);
  const columns = 40;
  for (const moved of [0, 3, -8, 40, 40.5, 0, 200]) {
    const from = 10_000 + (moved * 10_000) / columns;
    const span = { from, to: from + 10_000, columns };

    const expected = sampleSeries(whole, span);
    const sampled = sampler.sample(span);

    expect(sampled.values).toEqual(expected.values);
    sampled.times.forEach((time, i) => expect(time).toBeCloseTo(expected.times[i] ?? NaN, 6));
  }
});

test('series of different times are lined up, gaps apart from times that a series does not have', () => {
  const aligned = alignSeries([
    { times: [1, 3, 5], values: [10, null, 30] },
    { times: [3, 4], values: [1, 2] },
  ]);

  expect(aligned).toEqual([
    [1, 3, 4, 5],
    [10, null, undefined, 30],
    [undefined, 1, 2, undefined],
  ]);
});

test('a bound is the first index that is not before', () => {
  const times = Float64Array.of(1, 3, 3, 7);

  expect([0, 1, 2, 3, 4, 8].map((time) => lowerBound(times, time))).toEqual([0, 0, 1, 1, 3, 4]);
});
