// The times at which a query node runs its query: `every`, optionally aligned, or a cron
// expression.
import { assert, InvalidRequest } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import type { AskedQuery } from '@tidemark/pipeline';
import { roundTime, truncateTime } from '@tidemark/runtime';
import { parseCron } from './cron.ts';
import type { CronCalendar } from './cron.ts';

const NANOS_PER_MS = 1_000_000n;

/** The tick after `time`; `undefined` when there are no more. */
export type Schedule = (time: Timestamp) => Timestamp | undefined;

/** The schedule of a query node. Throws `InvalidRequest` for an invalid cron expression. */
export function scheduleOf(options: AskedQuery): Schedule {
  if (options.cron !== '') return cronSchedule(options.cron);
  const { everyNanos, isAligned } = options;
  if (everyNanos <= 0n) throw new InvalidRequest('must define one of every or cron');
  return (time) => {
    const next = time + everyNanos;
    return isAligned ? truncateTime(next, everyNanos) : next;
  };
}

/**
 * The first tick of a range that is run again. An aligned task that starts now waits for the next
 * multiple; a range begins at the multiple nearest to its first unaligned tick, as recorded.
 */
export function firstTickOf(
  { cron, everyNanos, isAligned }: AskedQuery,
  schedule: Schedule,
  start: Timestamp,
): Timestamp | undefined {
  const isRounded = cron === '' && isAligned;
  return isRounded ? roundTime(start + everyNanos, everyNanos) : schedule(start);
}

function cronSchedule(expression: string): Schedule {
  const calendar = parseCron(expression);
  const next = calendar.isEveryHour ? everyHour(calendar) : localRuns(calendar);
  return (time) => {
    const found = next(Number(time / NANOS_PER_MS));
    return found === undefined ? undefined : BigInt(found) * NANOS_PER_MS;
  };
}

/** The first run after a time, both in milliseconds. */
type NextRun = (afterMs: number) => number | undefined;

/**
 * Runs at hours of the day, once each: in an hour that occurs twice they run the first time, those
 * of a skipped hour run when clocks have gone forward.
 */
function localRuns(calendar: CronCalendar): NextRun {
  return (afterMs) => {
    let wall = calendar.next(afterMs + offsetAt(afterMs));
    while (wall !== undefined) {
      const run = localTime(wall);
      if (run > afterMs) return run;
      wall = calendar.next(wall);
    }
    return undefined;
  };
}

/**
 * Runs of a pattern without an hour. In an hour that occurs twice they run twice, as real time
 * passes. So each offset from UTC has a calendar of its own, which counts while the offset applies.
 */
function everyHour(calendar: CronCalendar): NextRun {
  const nextAt = (offset: number, afterMs: number): number | undefined => {
    const wall = calendar.next(afterMs + offset);
    return wall === undefined ? undefined : wall - offset;
  };
  return (afterMs) => {
    const offset = offsetAt(afterMs);
    const found = nextAt(offset, afterMs);
    if (found === undefined || offsetAt(found) === offset) return found;
    const changed = offsetAt(found);
    let next = nextAt(changed, afterMs);
    while (next !== undefined && offsetAt(next) === offset) next = nextAt(changed, next);
    return next;
  };
}

/** The time at which clocks show a wall time. */
function localTime(wallMs: number): number {
  const wall = new Date(wallMs);
  return new Date(
    wall.getUTCFullYear(),
    wall.getUTCMonth(),
    wall.getUTCDate(),
    wall.getUTCHours(),
    wall.getUTCMinutes(),
    wall.getUTCSeconds(),
  ).getTime();
}

/** Milliseconds that local time is ahead of UTC. */
function offsetAt(timeMs: number): number {
  return -new Date(timeMs).getTimezoneOffset() * 60_000;
}

/** The range of time that the query of a tick covers. */
export function rangeOf(
  options: AskedQuery,
  tick: Timestamp,
): { readonly start: Timestamp; readonly stop: Timestamp } {
  const stop = tick - options.offsetNanos;
  return { start: stop - options.periodNanos, stop };
}

/**
 * The last `countMax` ticks of a range, and their total number. Throws `InvalidRequest` for too
 * many.
 */
export function missedTicks(
  schedule: Schedule,
  range: { readonly start: Timestamp; readonly stop: Timestamp },
  countMax: number,
): { readonly ticks: readonly Timestamp[]; readonly count: number } {
  const ticks: Timestamp[] = [];
  let count = 0;
  for (const tick of ticksBetween(schedule, range)) {
    ticks.push(tick);
    count++;
    if (ticks.length >= countMax * 2) ticks.splice(0, ticks.length - countMax);
  }
  return { ticks: ticks.slice(Math.max(0, ticks.length - countMax)), count };
}

// A recording over years of a query per second would never end.
const TICKS_MAX = 10_000_000;

/** All ticks after `start` up to and including `stop`; the first one may be given. */
export function* ticksBetween(
  schedule: Schedule,
  { start, stop }: { readonly start: Timestamp; readonly stop: Timestamp },
  first = schedule(start),
): Iterable<Timestamp> {
  let tick = first;
  for (let count = 0; tick !== undefined && tick <= stop; count++) {
    if (count >= TICKS_MAX) throw new InvalidRequest(`more than ${TICKS_MAX} queries in the range`);
    yield tick;
    const next = schedule(tick);
    assert(next === undefined || next > tick, 'a schedule moves forward');
    tick = next;
  }
}
