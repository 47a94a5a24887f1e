// The times of the first rows of a group, in the order of the request: once there are enough, later
// rows do not have to be read.
import type { TimeRange } from '@tidemark/core';

export class FirstTimes {
  readonly #limit: number;
  readonly #isDescending: boolean;
  /** In the order of the request. */
  #times = new BigInt64Array();
  /** Number of series whose next row after those is still wanted. */
  #rowsBehind: number;

  constructor(limit: number, isDescending: boolean, rowsBehind = 0) {
    this.#limit = limit;
    this.#isDescending = isDescending;
    this.#rowsBehind = rowsBehind;
  }

  /** Whether there are enough rows, and none behind them is wanted. */
  get isFull(): boolean {
    return this.#times.length >= this.#limit && !this.wantsRowBehind;
  }

  get wantsRowBehind(): boolean {
    return this.#rowsBehind > 0;
  }

  /** The next row of a series after those has been read. */
  countRowBehind(): void {
    this.#rowsBehind--;
  }

  /**
   * The part of a range whose rows may come before the last of those, or have its time, unless such
   * rows come behind it (`isBehind`).
   */
  within({ start, end }: TimeRange, isBehind = false): TimeRange {
    const time = this.#times.length < this.#limit ? undefined : this.#times.at(-1);
    if (time === undefined) return { start, end };
    const step = this.#isDescending ? 1n : -1n;
    const last = isBehind ? time + step : time;
    if (this.#isDescending) return { start: last > start ? last : start, end };
    return { start, end: last < end ? last : end };
  }

  /** Adds rows in the order of the request, all of which will be delivered. */
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
