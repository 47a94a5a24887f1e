// Windows of a time zone as spans of time in which they have one length and one alignment, as a
// source knows them: hours are one span where clocks change by whole hours, days two spans a year
// and the days of the changes.
import type { TimeRange } from '@tidemark/core';
import { floorMod } from '@tidemark/core';

import type { Interval } from '../analyse/dimensions.ts';
import type { Zone } from '../analyse/zone.ts';
import type { WindowSpec } from '../series-source.ts';
import type { Steps } from '../operator.ts';
import { NEAR_CHANGE_NANOS, Windows } from './windows.ts';

/** Consecutive windows of a range. */
export type WindowSegment = {
  readonly range: TimeRange;
  /** `undefined` for a single window of another length. */
  readonly window: WindowSpec | undefined;
  /** Start of the first window, which may lie before the range. */
  readonly start: bigint;
};

/** Clocks were never set forth and back within so short a time. */
const PROBE_NANOS = 7n * 24n * 3_600_000_000_000n;
/** Probes between two pauses: each may ask the runtime about a day, some ten microseconds. */
const PROBES_PER_PAUSE = 16;

/** The segments of a range that has bounds, ascending. Pauses between parts of the work. */
export function* windowSegments(
  range: TimeRange,
  interval: Interval,
  zone: Zone,
): Steps<readonly WindowSegment[]> {
  const segments = new Segments(range, interval);
  const windows = new Windows(interval, zone);
  let at = windows.of(range.start).start;
  let probes = 0;
  while (at <= range.end) {
    const offset = zone.offsetNanos(at);
    const change = yield* nextChange(at, range.end, zone);
    if (change === undefined && segments.isRegular(windows.of(at), offset)) {
      segments.add(at, windows.of(range.end).end, offset);
      break;
    }
    if (change !== undefined && segments.isBorder(change, offset, zone)) {
      segments.add(at, change, offset);
      at = change;
      continue;
    }
    const changed = change ?? range.end;
    // Windows that begin at the offset's own borders and end long before the change.
    const calm = changed - NEAR_CHANGE_NANOS;
    if (segments.isRegular(windows.of(at), offset) && calm > windows.of(at).end) {
      const last = windows.of(calm).start;
      segments.add(at, last, offset);
      at = last;
    }
    const until = changed + NEAR_CHANGE_NANOS;
    while (at < until && at <= range.end) {
      const window = windows.of(at);
      segments.addWindow(window, zone.offsetNanos(window.start));
      at = window.end;
      if (++probes % PROBES_PER_PAUSE === 0) yield;
    }
  }
  return segments.all();
}

/** The first instant behind `from` with another offset, if there is one up to `end`. */
function* nextChange(from: bigint, end: bigint, zone: Zone): Steps<bigint | undefined> {
  const offset = zone.offsetNanos(from);
  let at = from;
  for (let probes = 1; at <= end; probes++) {
    const next = at + PROBE_NANOS;
    if (zone.offsetNanos(next) !== offset) return firstOther(at, next, zone);
    at = next;
    if (probes % PROBES_PER_PAUSE === 0) yield;
  }
  return undefined;
}

/** The first instant in (from, to] whose offset differs from that of `from`. */
function firstOther(from: bigint, to: bigint, zone: Zone): bigint {
  const offset = zone.offsetNanos(from);
  let [low, high] = [from, to];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (zone.offsetNanos(middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}

type OpenSegment = { start: bigint; end: bigint; readonly phase: bigint | undefined };

class Segments {
  readonly #range: TimeRange;
  readonly #interval: Interval;
  readonly #segments: OpenSegment[] = [];

  constructor(range: TimeRange, interval: Interval) {
    this.#range = range;
    this.#interval = interval;
  }

  isRegular(
    { start, end }: { readonly start: bigint; readonly end: bigint },
    offset: bigint,
  ): boolean {
    const { everyNanos } = this.#interval;
    const isAligned = floorMod(start - this.#phaseOf(offset), everyNanos) === 0n;
    return end - start === everyNanos && isAligned;
  }

  /**
   * Whether windows are regular on both sides of a change, which is a border of them: those that
   * are no longer than the change itself.
   */
  isBorder(change: bigint, offset: bigint, zone: Zone): boolean {
    const { everyNanos } = this.#interval;
    const phase = this.#phaseOf(offset);
    const after = zone.offsetNanos(change);
    const moved = after > offset ? after - offset : offset - after;
    return (
      everyNanos <= moved &&
      this.#phaseOf(after) === phase &&
      floorMod(change - phase, everyNanos) === 0n
    );
  }

  /** Adds the regular windows in `[start, end)`. */
  add(start: bigint, end: bigint, offset: bigint): void {
    this.#append(start, end, this.#phaseOf(offset));
  }

  addWindow(window: { readonly start: bigint; readonly end: bigint }, offset: bigint): void {
    const phase = this.isRegular(window, offset) ? this.#phaseOf(offset) : undefined;
    this.#append(window.start, window.end, phase);
  }

  all(): readonly WindowSegment[] {
    const { start: first, end: last } = this.#range;
    const { everyNanos } = this.#interval;
    return this.#segments.flatMap(({ start, end, phase }): readonly WindowSegment[] => {
      const range = {
        start: start < first ? first : start,
        end: end - 1n > last ? last : end - 1n,
      };
      if (range.start > range.end) return [];
      const window = phase === undefined ? undefined : { everyNanos, offsetNanos: phase };
      return [{ range, window, start }];
    });
  }

  #append(start: bigint, end: bigint, phase: bigint | undefined): void {
    if (end <= start) return;
    const last = this.#segments.at(-1);
    if (phase !== undefined && last?.phase === phase && last.end === start) last.end = end;
    else this.#segments.push({ start, end, phase });
  }

  #phaseOf(offset: bigint): bigint {
    const { everyNanos, offsetNanos } = this.#interval;
    return floorMod(offsetNanos - offset, everyNanos);
  }
}
