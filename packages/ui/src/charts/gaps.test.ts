import { expect, test } from 'vitest';

import { bridged, stepOf } from './gaps.ts';

const line = (...points: readonly (readonly [number, number])[]) => ({
  times: Float64Array.from(points, ([time]) => time),
  values: Float64Array.from(points, ([, value]) => value),
});
const windows = (...values: readonly number[]) =>
  line(...values.map((value, i) => [i * 10, value] as const));

test('the step is the usual time between values', () => {
  expect(stepOf(windows(1, 2, 3, 4))).toBe(10);
  expect(stepOf(windows(1, NaN, 2, NaN, 3, NaN, 4))).toBe(20);
  // Two outages do not count.
  expect(stepOf(line([0, 1], [10, 1], [20, 1], [900, 1], [910, 1], [2000, 1]))).toBe(10);
  expect(stepOf(windows(1, NaN, 2))).toBeUndefined();
});

test('gaps within the step are bridged, lost values and outages are not', () => {
  const every = windows(1, NaN, 2, NaN, 3, NaN, 4);
  expect([...bridged(every).values]).toEqual([1, 2, 3, 4]);
  const lost = windows(1, 2, 3, NaN, 5, 6, 7, 8, 9);
  expect([...bridged(lost).values]).toEqual([1, 2, 3, NaN, 5, 6, 7, 8, 9]);
  expect([...bridged(lost, 20).values]).toEqual([1, 2, 3, 5, 6, 7, 8, 9]);
  expect(bridged(lost, 0)).toBe(lost);
  expect([...bridged(windows(1, 2, NaN, NaN, NaN, 3), Infinity).values]).toEqual([1, 2, 3]);
});
