// Binary search in ascending lists. `lowerBound` of times (`run.ts`) is another algorithm: an
// exponential search from a known place.

/**
 * Position of the first element of an ascending list, from `from` on, that is not below `value`.
 */
export function firstNotBelow(
  list: Uint32Array | readonly number[],
  value: number,
  from = 0,
): number {
  let low = from;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The first of `count` positions for which `isBeyond` is true, when it is also true for all that
 * follow; `count` when it is true for none.
 */
export function firstBeyond(count: number, isBeyond: (position: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBeyond(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
