// percentile: the value of a rank.
import type { Aggregate } from './aggregate.ts';
import { NUMBERS, selected } from './aggregate.ts';
import { indexOfRank } from './rank.ts';

/**
 * Nearest rank; none if out of range. Among equal values the earlier in the batch has the lower
 * rank.
 */
export function percentile(p: number): Aggregate {
  return {
    types: NUMBERS,
    isSelector: true,
    apply: (samples) => {
      const { values } = samples;
      const rank = Math.floor((values.length * p) / 100 + 0.5) - 1;
      if (rank < 0 || rank >= values.length) return [];
      const index =
        typeof values[0] === 'bigint'
          ? indexOfInteger(values as readonly bigint[], rank)
          : indexOfRank(values as readonly number[] | Float64Array, rank);
      return selected(samples, index);
    },
  };
}

function indexOfInteger(values: readonly bigint[], rank: number): number {
  const wanted = BigInt64Array.from(values).sort()[rank] as bigint;
  let skip = rank;
  for (const value of values) if (value < wanted) skip--;
  for (let i = 0; i < values.length; i++) {
    if (values[i] === wanted && skip-- === 0) return i;
  }
  return 0;
}
