// Cron expressions of batch tasks: five fields (minute, hour, day of month, month, day of week),
// six with the year, or seven with seconds first. Croner parses them; this file adds what Kapacitor
// accepts beyond that. Wall times are milliseconds of a calendar without time zone.
import { InvalidRequest } from '@tidemark/core';
import { Cron } from 'croner';

/** The first match after a wall time; `undefined` when there are no more. */
export type CronCalendar = {
  readonly next: (wallMs: number) => number | undefined;
  /** The hour is given as `*` or `*` by steps, so that hours which occur twice are run twice. */
  readonly isEveryHour: boolean;
};

/** Names may also be written in full, which croner does not accept in ranges and lists. */
const NAMES =
  /\b(january|february|march|april|june|july|august|september|october|november|december|sunday|monday|tuesday|wednesday|thursday|friday|saturday)(?=L?\b)/gi;
/** Part of the error of every invalid expression. */
const FORM = 'fields are [second] minute hour day-of-month month day-of-week [year]';
const YEARS = { min: 1970, max: 2099 };

/** Reads an expression. Throws `InvalidRequest`. */
export function parseCron(expression: string): CronCalendar {
  const text = expression.trim();
  // Text after the seventh field is ignored, as recorded.
  const given = text.split(/\s+/).slice(0, 7);
  const fields = given.length === 6 ? ['0', ...given] : given;
  try {
    checkYears(fields[6] ?? '*');
    const pattern = fields.join(' ').replaceAll(NAMES, (name) => name.slice(0, 3));
    const cron = new Cron(pattern, { timezone: 'Etc/UTC', sloppyRanges: true });
    return {
      next: (wallMs) => cron.nextRun(new Date(wallMs))?.getTime(),
      isEveryHour: text === '@hourly' || /^[*?]/.test(fields.at(fields.length === 5 ? 1 : 2) ?? ''),
    };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : '';
    throw new InvalidRequest(
      `invalid cron expression ${JSON.stringify(expression)}: ${reason} (${FORM})`,
      { cause },
    );
  }
}

/** Croner accepts later years, too; a task that waits for one of them would never run. */
function checkYears(field: string): void {
  const wrong = field
    .match(/(?<![/\d])\d+/g)
    ?.find((year) => +year < YEARS.min || +year > YEARS.max);
  if (wrong !== undefined)
    throw new RangeError(`bad year ${wrong}, not ${YEARS.min} to ${YEARS.max}`);
}
