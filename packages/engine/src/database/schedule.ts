// When a query node asks: `every`, optionally aligned, or a cron expression.
import { Cron } from 'croner';
import { assert, floorMod, InvalidRequest, messageOf } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import type { QueryOptions } from '@tidemark/pipeline';

/** The tick after `time`; `undefined` when there is none any more. */
export type Schedule = (time: Timestamp) => Timestamp | undefined;

/** The schedule of a query node. Throws `InvalidRequest` for a cron expression that is none. */
export function scheduleOf(options: QueryOptions): Schedule {
  if (options.cron !== '') return cronSchedule(options.cron);
  const { everyNanos, isAligned } = options;
  if (everyNanos <= 0n) throw new InvalidRequest('must define one of every or cron');
  return (time) => {
    const next = time + everyNanos;
    return isAligned ? next - floorMod(next, everyNanos) : next;
  };
}

function cronSchedule(expression: string): Schedule {
  // Five fields up to seven: seconds and year are optional; a seventh field is the year, which must be any.
  const fields = expression.trim().split(/\s+/).slice(0, 6);
  const pattern = fields.join(' ');
  const local = parseCron(pattern, {});
  const next = fields.at(-4)?.startsWith('*') === true ? everyHour(pattern) : nextOf(local);
  return (time) => {
    const found = next(new Date(Number(time / 1_000_000n)));
    return found === undefined ? undefined : BigInt(found.getTime()) * 1_000_000n;
  };
}

function parseCron(pattern: string, options: { readonly utcOffset?: number }): Cron {
  try {
    return new Cron(pattern, { ...options, paused: true });
  } catch (cause) {
    const reason = messageOf(cause);
    throw new InvalidRequest(`invalid cron expression: ${reason}`, { cause });
  }
}

type NextRun = (after: Date) => Date | undefined;

function nextOf(cron: Cron): NextRun {
  return (after) => cron.nextRun(after) ?? undefined;
}

/**
 * Runs of a pattern that names no hour. An hour that clocks show twice has its runs twice, as real time passes; a
 * pattern with an hour of the day runs once. So each offset from UTC is a calendar of its own, of which the part counts
 * in which the offset holds.
 */
function everyHour(pattern: string): NextRun {
  const calendars = new Map<number, NextRun>();
  const calendarOf = (offset: number): NextRun => {
    const known = calendars.get(offset) ?? nextOf(parseCron(pattern, { utcOffset: offset }));
    calendars.set(offset, known);
    return known;
  };
  return (after) => {
    const offset = offsetAt(after);
    const found = calendarOf(offset)(after);
    if (found === undefined || offsetAt(found) === offset) return found;
    const changed = offsetAt(found);
    let next = calendarOf(changed)(after);
    while (next !== undefined && offsetAt(next) === offset) next = calendarOf(changed)(next);
    return next;
  };
}

/** Minutes that local time is ahead of UTC. */
function offsetAt(date: Date): number {
  return -date.getTimezoneOffset();
}

/** Range of time that the tick at `tick` asks for. */
export function rangeOf(
  options: QueryOptions,
  tick: Timestamp,
): { readonly start: Timestamp; readonly stop: Timestamp } {
  const stop = tick - options.offsetNanos;
  return { start: stop - options.periodNanos, stop };
}

/** The last `countMax` ticks of a range, and how many there are in all. Throws `InvalidRequest` for too many. */
export function missedTicks(
  schedule: Schedule,
  { start, stop }: { readonly start: Timestamp; readonly stop: Timestamp },
  countMax: number,
): { readonly ticks: readonly Timestamp[]; readonly count: number } {
  const ticks: Timestamp[] = [];
  let count = 0;
  for (const tick of ticksBetween(schedule, start, stop)) {
    ticks.push(tick);
    count++;
    if (ticks.length >= countMax * 2) ticks.splice(0, ticks.length - countMax);
  }
  return { ticks: ticks.slice(Math.max(0, ticks.length - countMax)), count };
}

// A recording over years of a query per second would never end.
const TICKS_MAX = 10_000_000;

/** All ticks after `start` up to and including `stop`. */
export function* ticksBetween(
  schedule: Schedule,
  start: Timestamp,
  stop: Timestamp,
): Iterable<Timestamp> {
  let tick = schedule(start);
  for (let count = 0; tick !== undefined && tick <= stop; count++) {
    if (count >= TICKS_MAX) throw new InvalidRequest(`more than ${TICKS_MAX} queries in the range`);
    yield tick;
    const next = schedule(tick);
    assert(next === undefined || next > tick, 'a schedule moves forward');
    tick = next;
  }
}
