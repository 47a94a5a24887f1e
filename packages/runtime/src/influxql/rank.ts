// Finds the number of a rank without sorting all of them: most percentiles are near an end, and
// then one comparison a number is enough.

type Numbers = readonly number[] | Float64Array;

/** Places from an end up to which the numbers beyond the rank are kept in their order. */
const NEAR_MAX = 16;
const nearNumbers = new Float64Array(NEAR_MAX);
const nearIndexes = new Uint32Array(NEAR_MAX);

let scratch = new Float64Array(256);

/**
 * Index of the number at `rank` (from 0) when they are sorted. Equal ones each have a rank of their
 * own, in their order; NaN is after all others, and the first one stands for all.
 */
export function indexOfRank(values: Numbers, rank: number): number {
  const fromEnd = values.length - 1 - rank;
  const isAtEnd = fromEnd < rank;
  const place = isAtEnd ? fromEnd : rank;
  const near = place < NEAR_MAX ? indexNear(values, place, isAtEnd) : undefined;
  return near ?? indexAnywhere(values, rank);
}

/** `place` is counted from the end, or from the beginning; `undefined` when there are NaNs. */
function indexNear(values: Numbers, place: number, isAtEnd: boolean): number | undefined {
  const count = values.length;
  const sign = isAtEnd ? 1 : -1;
  let kept = 0;
  let least = -Infinity;
  for (let step = 0; step < count; step++) {
    // Of equal ones the later is nearer to the end: it comes later here.
    const i = isAtEnd ? step : count - 1 - step;
    const number = sign * (values[i] as number);
    if (number < least) continue;
    if (Number.isNaN(number)) return undefined;
    let at = kept <= place ? kept++ : place;
    for (; at > 0 && (nearNumbers[at - 1] as number) <= number; at--) {
      nearNumbers[at] = nearNumbers[at - 1] as number;
      nearIndexes[at] = nearIndexes[at - 1] as number;
    }
    nearNumbers[at] = number;
    nearIndexes[at] = i;
    if (kept > place) least = nearNumbers[place] as number;
  }
  return nearIndexes[place];
}

function indexAnywhere(values: Numbers, rank: number): number {
  const wanted = numberOfRank(values, rank);
  if (Number.isNaN(wanted)) return values.findIndex((value) => Number.isNaN(value));
  let skip = rank;
  for (let i = 0; i < values.length; i++) if ((values[i] as number) < wanted) skip--;
  for (let i = 0; i < values.length; i++) if (values[i] === wanted && skip-- === 0) return i;
  return 0;
}

function numberOfRank(values: Numbers, rank: number): number {
  const count = values.length;
  if (scratch.length < count) scratch = new Float64Array(count * 2);
  const numbers = scratch;
  let hasNaN = false;
  for (let i = 0; i < count; i++) {
    const value = values[i] as number;
    if (Number.isNaN(value)) hasNaN = true;
    numbers[i] = value;
  }
  if (hasNaN) return numbers.subarray(0, count).sort()[rank] as number;
  let low = 0;
  let high = count - 1;
  while (low < high) {
    // The middle as the pivot: sorted input, which is common, is then split in halves.
    const pivot = numbers[(low + high) >> 1] as number;
    let i = low;
    let j = high;
    while (i <= j) {
      while ((numbers[i] as number) < pivot) i++;
      while ((numbers[j] as number) > pivot) j--;
      if (i > j) break;
      const swapped = numbers[i] as number;
      numbers[i] = numbers[j] as number;
      numbers[j] = swapped;
      i++;
      j--;
    }
    if (rank <= j) high = j;
    else if (rank >= i) low = i;
    else break;
  }
  return numbers[rank] as number;
}
