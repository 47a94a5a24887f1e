// Cron expressions as batch tasks have them: five fields (minute, hour, day of month, month, day of
// week), a sixth for the year, or seven with the second before them all. Wall times are
// milliseconds of a calendar without time zone.
import { InvalidRequest } from '@tidemark/core';

/** The first match after a wall time; `undefined` when there is none any more. */
export type CronCalendar = {
  readonly next: (wallMs: number) => number | undefined;
  /**
   * The hour is given as `*` or `*` by steps, so that hours which clocks show twice are run twice.
   */
  readonly isEveryHour: boolean;
};

type Fields = {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: ReadonlySet<number>;
  readonly years: ReadonlySet<number>;
  /** Days of a month, from 1; the month counts from 0. */
  readonly daysOf: (year: number, month: number) => ReadonlySet<number>;
};

type Range = { readonly name: string; readonly min: number; readonly max: number };

const SECOND: Range = { name: 'second', min: 0, max: 59 };
const MINUTE: Range = { name: 'minute', min: 0, max: 59 };
const HOUR: Range = { name: 'hour', min: 0, max: 23 };
const DAY: Range = { name: 'day of month', min: 1, max: 31 };
const MONTH: Range = { name: 'month', min: 1, max: 12 };
/** Sunday is 0 and 7. */
const WEEKDAY: Range = { name: 'day of week', min: 0, max: 7 };
const YEAR: Range = { name: 'year', min: 1970, max: 2099 };

const MONTH_NAMES =
  'january february march april may june july august september october november december';
const WEEKDAY_NAMES = 'sunday monday tuesday wednesday thursday friday saturday';
/** Names and their first three letters. */
const NAMES: ReadonlyMap<Range, ReadonlyMap<string, number>> = new Map([
  [MONTH, numbered(MONTH_NAMES, 1)],
  [WEEKDAY, numbered(WEEKDAY_NAMES, 0)],
]);

const SHORT_FORMS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

/** Reads an expression. Throws `InvalidRequest`. */
export function parseCron(expression: string): CronCalendar {
  const text = expression.trim();
  const given = (SHORT_FORMS.get(text) ?? text).split(/\s+/);
  if (given.length < 5) {
    throw invalid(expression, 'missing field(s): five, six (with the year) or seven are needed');
  }
  // What stands behind the seventh field is not looked at, as recorded.
  const hasSeconds = given.length >= 7;
  const [second = '0', minute = '', hour = '', day = '', month = '', weekday = '', year = '*'] =
    hasSeconds ? given : ['0', ...given];
  try {
    const fields: Fields = {
      seconds: sorted(numbers(second, SECOND)),
      minutes: sorted(numbers(minute, MINUTE)),
      hours: sorted(numbers(hour, HOUR)),
      months: numbers(month, MONTH),
      years: numbers(year, YEAR),
      daysOf: daysOf(day, weekday),
    };
    return { next: (wallMs) => nextOf(fields, wallMs), isEveryHour: /^[*?]/.test(hour) };
  } catch (cause) {
    if (cause instanceof FieldError) throw invalid(expression, cause.message, cause);
    throw cause;
  }
}

function invalid(expression: string, reason: string, cause?: Error): InvalidRequest {
  return new InvalidRequest(`invalid cron expression ${JSON.stringify(expression)}: ${reason}`, {
    cause,
  });
}

/** What is wrong with one field. */
class FieldError extends Error {
  override readonly name = 'FieldError';
}

function nextOf(fields: Fields, wallMs: number): number | undefined {
  const from = new Date((Math.floor(wallMs / 1000) + 1) * 1000);
  const today = [from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate()] as const;
  for (let year = today[0]; year <= YEAR.max; year++) {
    if (!fields.years.has(year)) continue;
    const isThisYear = year === today[0];
    for (let month = isThisYear ? today[1] : 0; month < 12; month++) {
      if (!fields.months.has(month + 1)) continue;
      const isThisMonth = isThisYear && month === today[1];
      for (const day of sorted(fields.daysOf(year, month))) {
        if (isThisMonth && day < today[2]) continue;
        const start = Date.UTC(year, month, day);
        const since = isThisMonth && day === today[2] ? from.getTime() - start : 0;
        const time = timeOfDay(fields, since);
        if (time !== undefined) return start + time;
      }
    }
  }
  return undefined;
}

/** The first time of a day, in milliseconds, that is not before another. */
function timeOfDay({ hours, minutes, seconds }: Fields, sinceMs: number): number | undefined {
  for (const hour of hours) {
    if ((hour + 1) * 3_600_000 <= sinceMs) continue;
    for (const minute of minutes) {
      if (hour * 3_600_000 + (minute + 1) * 60_000 <= sinceMs) continue;
      for (const second of seconds) {
        const time = hour * 3_600_000 + minute * 60_000 + second * 1000;
        if (time >= sinceMs) return time;
      }
    }
  }
  return undefined;
}

/** Where both are restricted, a day of either counts. */
function daysOf(day: string, weekday: string): Fields['daysOf'] {
  const [isAnyDay, isAnyWeekday] = [/^[*?]$/.test(day), /^[*?]$/.test(weekday)];
  const inMonth = day.split(',').map(dayRule);
  const inWeek = weekday.split(',').map(weekdayRule);
  const rules = [...(isAnyDay && !isAnyWeekday ? [] : inMonth), ...(isAnyWeekday ? [] : inWeek)];
  return (year, month) => {
    const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
    const first = new Date(Date.UTC(year, month, 1)).getUTCDay();
    const days = new Set(rules.flatMap((rule) => rule({ length, first })));
    for (const each of days) if (each < 1 || each > length) days.delete(each);
    return days;
  };
}

/** Days of a month of that length whose first day is that day of the week. */
type DayRule = (month: { readonly length: number; readonly first: number }) => readonly number[];

function dayRule(part: string): DayRule {
  if (part === 'L') return ({ length }) => [length];
  const [, weekdayOf] = /^(\d{1,2}|L)W$/.exec(part) ?? [];
  if (weekdayOf === undefined) {
    const days = [...numbers(part, DAY)];
    return () => days;
  }
  const wanted = weekdayOf === 'L' ? undefined : number(weekdayOf, DAY);
  return ({ length, first }) => {
    const day = wanted ?? length;
    return day > length ? [] : [nearestWorkday(day, { length, first })];
  };
}

/** Saturdays give way to the day before, Sundays to the day after, but not into another month. */
function nearestWorkday(
  day: number,
  { length, first }: { readonly length: number; readonly first: number },
): number {
  const weekday = (first + day - 1) % 7;
  if (weekday === 6) return day === 1 ? 3 : day - 1;
  if (weekday === 0) return day === length ? day - 2 : day + 1;
  return day;
}

function weekdayRule(part: string): DayRule {
  const [, last] = /^(\w+)L$/.exec(part) ?? [];
  const [, name, nth] = /^(\w+)#([1-5])$/.exec(part) ?? [];
  if (last !== undefined) {
    const weekday = number(last, WEEKDAY) % 7;
    return (month) => daysOfWeek(weekday, month).slice(-1);
  }
  if (name !== undefined) {
    const weekday = number(name, WEEKDAY) % 7;
    return (month) => daysOfWeek(weekday, month).slice(Number(nth) - 1, Number(nth));
  }
  const weekdays = new Set([...numbers(part, WEEKDAY)].map((each) => each % 7));
  return (month) => [...weekdays].flatMap((weekday) => daysOfWeek(weekday, month));
}

function daysOfWeek(
  weekday: number,
  { length, first }: { readonly length: number; readonly first: number },
): number[] {
  const days: number[] = [];
  for (let day = 1 + ((weekday - first + 7) % 7); day <= length; day += 7) days.push(day);
  return days;
}

/** `*`, `?`, numbers, names, `a-b`, each with `/step`; several with commas. */
function numbers(text: string, range: Range): ReadonlySet<number> {
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [span = '', step, ...more] = part.split('/');
    const [from = '', to, ...rest] = span.split('-');
    const isAny = span === '*' || span === '?';
    if (more.length > 0 || rest.length > 0) throw new FieldError(`bad ${range.name} ${part}`);
    const first = isAny ? range.min : number(from, range);
    // `5/10` goes on to the end.
    const open = isAny || step !== undefined ? range.max : first;
    const last = to === undefined ? open : number(to, range);
    const width = step === undefined ? 1 : number(step, { ...range, min: 1, max: range.max });
    if (last < first) throw new FieldError(`bad ${range.name} ${part}: it ends before it begins`);
    for (let value = first; value <= last; value += width) found.add(value);
  }
  return found;
}

function number(text: string, range: Range): number {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : NAMES.get(range)?.get(text.toLowerCase());
  if (value === undefined || value < range.min || value > range.max) {
    const expected = `${range.min} to ${range.max}`;
    throw new FieldError(`bad ${range.name} ${text === '' ? '(nothing)' : text}, not ${expected}`);
  }
  return value;
}

function numbered(names: string, from: number): ReadonlyMap<string, number> {
  const entries = names.split(' ').flatMap((name, i): [string, number][] => [
    [name, from + i],
    [name.slice(0, 3), from + i],
  ]);
  return new Map(entries);
}

function sorted(values: ReadonlySet<number>): readonly number[] {
  return [...values].sort((a, b) => a - b);
}
