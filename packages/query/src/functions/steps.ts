// Work on many values that is done in steps of about a millisecond: sorting and selecting. Others run in between, and a
// query that is cancelled ends there.

/** Work in steps; what it returns is its result. It may be left at any step. */
export type Steps<T = void> = Generator<undefined, T>;

/** Items that are looked at in one step. */
export const STEP_ITEMS = 1 << 14;

/** Fewer items than this are not worth several steps. */
export function isStepped(count: number): boolean {
  return count > STEP_ITEMS;
}

/** Does all of the work at once. For what is known to be short, and for tests. */
export function finishSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Sorts like `Array.prototype.sort`: stable, by `compare`. The items are not changed. */
export function* sortInSteps<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<readonly T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += STEP_ITEMS) {
    runs.push(items.slice(from, from + STEP_ITEMS).sort(compare));
    yield;
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2) {
      const [left, right] = [runs[i]!, runs[i + 1]];
      merged.push(right === undefined ? left : yield* merge(left, right, compare));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<T[]> {
  const merged: T[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    const isLeft = j === right.length || (i < left.length && compare(left[i]!, right[j]!) <= 0);
    merged.push(isLeft ? left[i++]! : right[j++]!);
    if (merged.length % STEP_ITEMS === 0) yield;
  }
  return merged;
}

type Numbers = Float64Array | BigInt64Array | BigUint64Array;

/**
 * Puts the value that stands at `rank` in ascending order there, nothing larger before it and nothing smaller behind it
 * (Hoare's selection). What is no number comes last. Changes the order of `values`.
 */
export function* selectInSteps(values: Numbers, rank: number): Steps {
  let low = 0;
  let high = (yield* numbersFirst(values)) - 1;
  // Pivots from all over the range: no order of the values makes every one of them a bad one.
  let random = 0x9e3779b9;
  while (low < high && rank <= high) {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    const pivot = values[low + (random % (high - low + 1))]!;
    let i = low;
    let j = high;
    while (i <= j) {
      for (; values[i]! < pivot; i++) if (i % STEP_ITEMS === 0) yield;
      for (; values[j]! > pivot; j--) if (j % STEP_ITEMS === 0) yield;
      if (i > j) break;
      swap(values, i, j);
      i++;
      j--;
      if (i % STEP_ITEMS === 0) yield;
    }
    if (rank <= j) high = j;
    else if (rank >= i) low = i;
    else return;
  }
}

/** Moves NaN to the end; how many numbers there are. */
function* numbersFirst(values: Numbers): Steps<number> {
  if (!(values instanceof Float64Array)) return values.length;
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    if ((i + 1) % (STEP_ITEMS * 8) === 0) yield;
    if (Number.isNaN(values[i]!)) continue;
    if (i !== count) swap(values, i, count);
    count++;
  }
  return count;
}

function swap(values: Numbers, i: number, j: number): void {
  const numbers = values as Float64Array;
  const kept = numbers[i]!;
  numbers[i] = numbers[j]!;
  numbers[j] = kept;
}
