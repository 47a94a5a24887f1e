import { expect, test } from 'vitest';

import { formatValue } from './format.ts';
import { incrementsOf } from './increments.ts';

test('steps of bytes and durations are round in their units', () => {
  const labels = (unit: string, least: number, most: number): readonly string[] =>
    (incrementsOf(unit) ?? [])
      .filter((each) => each >= least && each <= most)
      .map((each) => formatValue(each, unit));

  expect(labels('bytes', 1024, 8192)).toEqual(['1 KiB', '2 KiB', '4 KiB', '8 KiB']);
  expect(labels('s', 15, 120)).toEqual(['15 s', '30 s', '1 min', '2 min']);
  expect(incrementsOf('percent')).toBeUndefined();
  for (const unit of ['bytes', 's', 'ms']) {
    const all = incrementsOf(unit) ?? [];
    expect(all.toSorted((a, b) => a - b)).toEqual(all);
  }
});
