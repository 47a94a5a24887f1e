// Work on many values in steps of about a millisecond: sorting and selecting. Other work runs
// between steps, and a cancelled query ends there.

/**
 * Work of a function in steps, between which other work may run; it never waits. It may be
 * abandoned at any step.
 */
export type Calculation<T = void> = Generator<undefined, T, undefined>;

/**
 * Items processed or sorted in one step: a millisecond of either, a few when others share the
 * processor.
 */
export const STEP_ITEMS = 1 << 12;

/** Fewer items than this are not worth several steps. */
export function isStepped(count: number): boolean {
  return count > STEP_ITEMS;
}

/** Runs all of the work at once. For short work, and for tests. */
export function finishSteps<T>(steps: Calculation<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The steps if there are many items; `undefined` when the work was done at once. */
export function stepsIfMany(count: number, steps: Calculation): Calculation | undefined {
  if (isStepped(count)) return steps;
  finishSteps(steps);
  return undefined;
}

/** Sorts like `Array.prototype.sort`: stable, by `compare`. The items are not changed. */
export function* sortInSteps<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
): Calculation<readonly T[]> {
  const order = yield* orderInSteps(items.length, (a, b) => compare(items[a]!, items[b]!));
  const sorted: T[] = [];
  for (let i = 0; i < order.length; i++) {
    sorted.push(items[order[i]!]!);
    if ((i + 1) % STEP_ITEMS === 0) yield;
  }
  return sorted;
}

/** The numbers from 0 to `count - 1`, sorted by `compare`, stable. */
export function* orderInSteps(
  count: number,
  compare: (a: number, b: number) => number,
): Calculation<Uint32Array> {
  let from = new Uint32Array(count);
  for (let start = 0; start < count; start += STEP_ITEMS) {
    const run = Array.from({ length: Math.min(STEP_ITEMS, count - start) }, (_, i) => start + i);
    from.set(run.sort(compare), start);
    if (count > STEP_ITEMS) yield;
  }
  let to = count > STEP_ITEMS ? new Uint32Array(count) : from;
  for (let length = STEP_ITEMS; length < count; length *= 2) {
    for (let start = 0; start < count; start += 2 * length) {
      const middle = Math.min(count, start + length);
      yield* merge({ from, start, middle, end: Math.min(count, middle + length) }, to, compare);
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Two sorted runs that lie one after another, from `start` and `middle` on. */
type Runs = {
  readonly from: Uint32Array;
  readonly start: number;
  readonly middle: number;
  readonly end: number;
};

function* merge(
  { from, start, middle, end }: Runs,
  to: Uint32Array,
  compare: (a: number, b: number) => number,
): Calculation {
  // Items that are in order already are not compared one by one.
  if (middle === end || compare(from[middle - 1]!, from[middle]!) <= 0) {
    to.set(from.subarray(start, end), start);
    yield;
    return;
  }
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    const isLeft = right === end || (left < middle && compare(from[left]!, from[right]!) <= 0);
    to[at] = isLeft ? from[left++]! : from[right++]!;
    if ((at + 1) % STEP_ITEMS === 0) yield;
  }
}

type Numbers = Float64Array | BigInt64Array | BigUint64Array;

/**
 * Moves the value of a rank in ascending order to its position, nothing larger before it and
 * nothing smaller after it (Hoare's selection). NaN comes last. Changes the order of `values`.
 */
export function* selectInSteps(values: Numbers, rank: number): Calculation {
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

/** Moves NaN to the end and returns how many numbers there are. */
function* numbersFirst(values: Numbers): Calculation<number> {
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
  const first = numbers[i]!;
  numbers[i] = numbers[j]!;
  numbers[j] = first;
}
