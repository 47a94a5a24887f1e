// percentile: the value of a rank.
import type { Aggregate, Samples } from './aggregate.ts';
import { NUMBERS, selected } from './aggregate.ts';
import { numberOfRank } from './rank.ts';

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
      return selected(samples, indexOfRank(values, rank));
    },
  };
}

/** Index of the value of that rank; equal values each have a rank of their own, in their order. */
function indexOfRank(values: Samples['values'], rank: number): number {
  return typeof values[0] === 'bigint'
    ? indexOfInteger(values as readonly bigint[], rank)
    : indexOfNumber(values as readonly number[] | Float64Array, rank);
}

function indexOfNumber(values: readonly number[] | Float64Array, rank: number): number {
  const wanted = numberOfRank(values, rank);
  if (Number.isNaN(wanted)) return values.findIndex((value) => Number.isNaN(value));
  let [first, skip, count] = [-1, rank, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value < wanted) skip--;
    else if (value === wanted && count++ === 0) first = i;
  }
  if (count === 1) return first;
  for (let i = first; i < values.length; i++) {
    if (values[i] === wanted && skip-- === 0) return i;
  }
  return 0;
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
