// Finds the value of a rank among numbers without sorting all of them: 0.5 µs for 30 numbers
// instead of 1.7 µs with a sorted copy, which was the largest cost of a percentile over a sliding
// window.
let scratch = new Float64Array(256);

/** The value at `rank` (from 0) when the numbers are sorted, NaN after all others. */
export function numberOfRank(values: readonly number[] | Float64Array, rank: number): number {
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
