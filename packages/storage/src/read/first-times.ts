// The first rows of a group in the order of a request, by their times alone: what comes behind so
// many of them does not have to be read.
import type { TimeRange } from '@tidemark/core';

export class FirstTimes {
  readonly #limit: number;
  readonly #isDescending: boolean;
  /** In the order of the request. */
  #times = new BigInt64Array();
  /** Series of which the row behind those is still wanted. */
  #rowsBehind: number;

  constructor(limit: number, isDescending: boolean, rowsBehind = 0) {
    this.#limit = limit;
    this.#isDescending = isDescending;
    this.#rowsBehind = rowsBehind;
  }

  get wantsRowBehind(): boolean {
    return this.#rowsBehind > 0;
  }

  /** A series has been read up to the row behind those. */
  countRowBehind(): void {
    this.#rowsBehind--;
  }

  /** The part of a range that rows may lie in which come first, or with the last of those. */
  within({ start, end }: TimeRange): TimeRange {
    const last = this.#times.length < this.#limit ? undefined : this.#times.at(-1);
    if (last === undefined) return { start, end };
    if (this.#isDescending) return { start: last > start ? last : start, end };
    return { start, end: last < end ? last : end };
  }

  /** Adds rows of which all will be delivered, in the order of the request. */
  add(times: BigInt64Array): void {
    const known = this.#times;
    const length = Math.min(this.#limit, known.length + times.length);
    const merged = new BigInt64Array(length);
    let left = 0;
    let right = 0;
    for (let at = 0; at < length; at++) {
      const isKnown =
        right >= times.length ||
        (left < known.length && !this.#isBefore(times[right]!, known[left]!));
      merged[at] = isKnown ? known[left++]! : times[right++]!;
    }
    this.#times = merged;
  }

  #isBefore(a: bigint, b: bigint): boolean {
    return this.#isDescending ? a > b : a < b;
  }
}
