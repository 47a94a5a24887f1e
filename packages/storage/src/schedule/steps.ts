// Long work in steps: generators that yield where a scheduler may pause or end them.

/** Elements processed between two pauses, at a microsecond each at most. */
export const STEP_ELEMENTS = 2048;

/** Runs a generator to its end without pausing; returns its result. */
export function finish<T>(work: Generator<unknown, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Sorted copy of the elements; stable. */
export function* sortInSteps<T>(
  elements: readonly T[],
  compare: (a: T, b: T) => number,
): Generator<undefined, T[]> {
  let from: T[] = [];
  for (let at = 0; at < elements.length; at += STEP_ELEMENTS) {
    for (const element of elements.slice(at, at + STEP_ELEMENTS).sort(compare)) from.push(element);
    yield undefined;
  }
  for (let width = STEP_ELEMENTS; width < from.length; width *= 2) {
    const to: T[] = [];
    for (let start = 0; start < from.length; start += 2 * width) {
      yield* mergeInSteps({ from, start, middle: start + width, width }, to, compare);
    }
    from = to;
  }
  return from;
}

type Halves<T> = {
  readonly from: readonly T[];
  readonly start: number;
  readonly middle: number;
  readonly width: number;
};

function* mergeInSteps<T>(
  { from, start, middle, width }: Halves<T>,
  to: T[],
  compare: (a: T, b: T) => number,
): Generator<undefined> {
  const leftEnd = Math.min(middle, from.length);
  const end = Math.min(middle + width, from.length);
  let left = start;
  let right = leftEnd;
  while (left < leftEnd || right < end) {
    const takesLeft = right >= end || (left < leftEnd && compare(from[left]!, from[right]!) <= 0);
    to.push(takesLeft ? from[left++]! : from[right++]!);
    if (to.length % STEP_ELEMENTS === 0) yield undefined;
  }
}
