// Windows of GROUP BY time: where they start and end, with and without a time zone. With a zone,
// borders are times of its wall clock. A window begins with the first instant at which the clock
// shows its border or a later time, so that windows follow each other without gaps, whatever the
// clock does: a window with a change in it is shorter or longer. Windows no longer than the change
// itself, such as hours where the clock moves by one, keep their length and count from midnight on
// either side: an hour that occurs twice is two windows, and the change is a border.
import { floorMod, MAX_TIME, MIN_TIME } from '@tidemark/core';

import type { Interval } from '../analyse/dimensions.ts';
import type { Zone } from '../analyse/zone.ts';

/** A window `[start, end)`. */
export type Window = { readonly start: bigint; readonly end: bigint };

/** No clock has ever been moved by more than a day, nor twice within two days. */
const CHANGE_NANOS = 24n * 3_600_000_000_000n;
/** Windows this far from a change of clocks are not affected by it. */
export const NEAR_CHANGE_NANOS = CHANGE_NANOS + 2n * 3_600_000_000_000n;

/** The windows of one query. */
export class Windows {
  readonly everyNanos: bigint;
  readonly #offset: bigint;
  readonly #zone: Zone | undefined;
  #calm: Calm | undefined;

  constructor(interval: Interval, zone: Zone | undefined) {
    this.everyNanos = interval.everyNanos;
    this.#offset = interval.offsetNanos;
    this.#zone = zone;
  }

  /** The window that holds a time. */
  of(time: bigint): Window {
    if (this.#zone !== undefined) return this.#ofClock(time, this.#zone);
    const start = this.#alignedStart(time);
    return within(start, start + this.everyNanos);
  }

  /** Start of the window after the one that begins at `start`. */
  after(start: bigint): bigint {
    return this.#zone === undefined ? start + this.everyNanos : this.of(start).end;
  }

  /** Start of the window before the one that begins at `start`. */
  before(start: bigint): bigint {
    return this.#zone === undefined ? start - this.everyNanos : this.of(start - 1n).start;
  }

  /**
   * Number of windows in [start, end); exact except for those that a change of clocks cuts short.
   */
  count(start: bigint, end: bigint): number {
    const moved =
      this.#zone === undefined ? 0n : this.#zone.offsetNanos(end) - this.#zone.offsetNanos(start);
    // Windows longer than the change follow the clock; shorter ones keep their length.
    const span = end - start + (absolute(moved) < this.everyNanos ? moved : 0n);
    return Number((span + this.everyNanos - 1n) / this.everyNanos);
  }

  get hasZone(): boolean {
    return this.#zone !== undefined;
  }

  #alignedStart(time: bigint): bigint {
    return time - floorMod(time - this.#offset, this.everyNanos);
  }

  #ofClock(time: bigint, zone: Zone): Window {
    if (this.#calm !== undefined) {
      const { offset, from, to } = this.#calm;
      const start = this.#alignedStart(time + offset) - offset;
      if (start >= from && start + this.everyNanos <= to)
        return within(start, start + this.everyNanos);
    }
    const offset = zone.offsetNanos(time);
    let local = this.#alignedStart(time + offset);
    let start = this.#instantOf(local, { time, offset, zone });
    local += this.everyNanos;
    let end = this.#instantOf(local, { time, offset, zone });
    // After the clock is set back over a border it shows times of the previous window again, but
    // the border was reached.
    while (end <= time) {
      start = end;
      local += this.everyNanos;
      end = this.#instantOf(local, { time, offset, zone });
    }
    return within(start, end);
  }

  /**
   * The instant at which the clock first shows a time, as seen from a time in the window that
   * begins or ends with it.
   */
  #instantOf(local: bigint, { time, offset, zone }: Seen): bigint {
    const near = local - offset;
    const before = zone.offsetNanos(near - NEAR_CHANGE_NANOS);
    const after = zone.offsetNanos(near + NEAR_CHANGE_NANOS);
    if (before === after) {
      this.#calm = {
        offset: before,
        from: near - NEAR_CHANGE_NANOS + CHANGE_NANOS,
        to: near + NEAR_CHANGE_NANOS,
      };
      return local - before;
    }
    const early = local - before;
    const late = local - after;
    if (absolute(after - before) >= this.everyNanos) {
      const change = firstWith(after, {
        from: near - NEAR_CHANGE_NANOS,
        to: near + NEAR_CHANGE_NANOS,
        zone,
      });
      if (time < change) return early < change ? early : change;
      return late > change ? late : change;
    }
    if (zone.offsetNanos(early) === before) return early;
    if (zone.offsetNanos(late) === after) return late;
    return firstWith(after, { from: late, to: early, zone });
  }
}

/**
 * A span of time without a change, and not so shortly before one that the clock shows its times
 * twice.
 */
type Calm = { readonly offset: bigint; readonly from: bigint; readonly to: bigint };

type Seen = { readonly time: bigint; readonly offset: bigint; readonly zone: Zone };

/** The first instant of an offset that applies at `to`, but not at `from`. */
function firstWith(
  offset: bigint,
  { from, to, zone }: { readonly from: bigint; readonly to: bigint; readonly zone: Zone },
): bigint {
  let [low, high] = [from, to];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (zone.offsetNanos(middle) === offset) high = middle;
    else low = middle;
  }
  return high;
}

function within(start: bigint, end: bigint): Window {
  return {
    start: start < MIN_TIME ? MIN_TIME : start,
    end: end > MAX_TIME ? MAX_TIME + 1n : end,
  };
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}
