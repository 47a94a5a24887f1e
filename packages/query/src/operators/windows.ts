// Windows of GROUP BY time: where they start and end, with and without a time zone (query semantics §2).
import { floorMod, MAX_TIME, MIN_TIME } from '@tidemark/core';

import type { Interval } from '../analyse/dimensions.ts';
import type { Zone } from '../analyse/zone.ts';

/** A window `[start, end)`. */
export type Window = { readonly start: bigint; readonly end: bigint };

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** The windows of one query. */
export class Windows {
  readonly everyNanos: bigint;
  readonly #offset: bigint;
  readonly #zone: Zone | undefined;

  constructor(interval: Interval, zone: Zone | undefined) {
    this.everyNanos = interval.everyNanos;
    this.#offset = interval.offsetNanos;
    this.#zone = zone;
  }

  /** The window that holds a time. With a zone, windows follow its wall clock. */
  of(time: bigint): Window {
    const every = this.everyNanos;
    const shifted = time - this.#offset;
    const zone = this.#zone;
    const offset = zone === undefined ? 0n : zone.offsetNanos(shifted);
    const into = floorMod(shifted + offset, every);
    let start = shifted - into;
    let end = shifted + (every - into);
    if (zone !== undefined) {
      // The offset may have changed between the border and the time; a change that is longer than the window stays.
      start += this.#shift(offset, zone.offsetNanos(start));
      end += this.#shift(offset, zone.offsetNanos(end));
    }
    start += this.#offset;
    end += this.#offset;
    return {
      start: start < MIN_TIME ? MIN_TIME : start,
      end: end > MAX_TIME ? MAX_TIME + 1n : end,
    };
  }

  /** Offset from UTC that `step` has to be told about; 0 without a zone. */
  offsetAt(time: bigint): bigint {
    return this.#zone === undefined ? 0n : this.#zone.offsetNanos(time);
  }

  /** How far a step over a change of the offset is corrected. */
  correction(before: bigint, after: bigint): bigint {
    return this.#shift(before, after);
  }

  get hasZone(): boolean {
    return this.#zone !== undefined;
  }

  #shift(before: bigint, after: bigint): bigint {
    const difference = before - after;
    return difference !== 0n && absolute(difference) < this.everyNanos ? difference : 0n;
  }
}
