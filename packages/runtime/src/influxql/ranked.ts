// top and bottom: the best values.
import type { Aggregate, Samples } from './aggregate.ts';
import { compareAt, compareValues, NUMBERS, timeAt } from './aggregate.ts';

/**
 * The n best values; results in order of time, equal times best first. `direction` is 1 for bottom,
 * -1 for top. Of the points with the same values of `tags` only the best counts; names of fields
 * are no tags.
 */
export function ranked(n: number, direction: 1 | -1, tags: readonly string[]): Aggregate {
  return {
    types: NUMBERS,
    isMany: true,
    isKeepingTags: true,
    otherFields: tags,
    apply: (samples) => {
      const order = Array.from(samples.values, (_, i) => i);
      const byValue = (a: number, b: number): number => direction * compareAt(samples, a, b);
      const byTime = (a: number, b: number): number =>
        compareValues(timeAt(samples, a), timeAt(samples, b));
      order.sort((a, b) => byValue(a, b) || byTime(a, b) || a - b);
      const taking = tags.length === 0 ? order : firstOfTags(order, samples, tags);
      const best = taking.slice(0, Math.max(0, n));
      best.sort((a, b) => byTime(a, b) || byValue(a, b) || a - b);
      return best.map((index) => ({
        value: samples.values[index] ?? null,
        index,
        isAtPoint: true,
      }));
    },
  };
}

/** The first index for each combination of tag values. */
function firstOfTags(
  order: readonly number[],
  { points }: Samples,
  names: readonly string[],
): readonly number[] {
  const seen = new Set<string>();
  return order.filter((index) => {
    const point = points.pointAt(index);
    const tags = names.filter((name) => point.schema.field(name) === undefined);
    const key = tags.map((name) => point.series.tag(name) ?? '').join('\u0000');
    if (tags.length > 0 && seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
