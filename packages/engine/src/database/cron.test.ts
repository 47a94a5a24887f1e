// Cron expressions in a calendar without time zone: what the fields mean, and what is refused.
import { expect, test } from 'vitest';
import { parseCron } from './cron.ts';

/** The next runs after a wall time, as `2024-01-01T00:00:00`. */
function runs(expression: string, after: string, count = 3): readonly string[] {
  const { next } = parseCron(expression);
  const found: string[] = [];
  let time: number | undefined = Date.parse(`${after}Z`);
  while (time !== undefined && found.length < count) {
    time = next(time);
    if (time !== undefined) found.push(new Date(time).toISOString().slice(0, 19));
  }
  return found;
}

const NEW_YEAR = '2024-01-01T00:00:00';

test.each([
  ['*/3 * * * *', ['2024-01-01T00:03:00', '2024-01-01T00:06:00', '2024-01-01T00:09:00']],
  // The sixth field is the year, the seventh from behind the second.
  ['*/3 * * * * *', ['2024-01-01T00:03:00', '2024-01-01T00:06:00', '2024-01-01T00:09:00']],
  ['*/3 * * * * * *', ['2024-01-01T00:00:03', '2024-01-01T00:00:06', '2024-01-01T00:00:09']],
  ['0 0 1 1 * 2026', ['2026-01-01T00:00:00']],
  [
    '30 59 23 31 12 * 2024-2099/10',
    ['2024-12-31T23:59:30', '2034-12-31T23:59:30', '2044-12-31T23:59:30'],
  ],
  ['0 12 15W * *', ['2024-01-15T12:00:00', '2024-02-15T12:00:00', '2024-03-15T12:00:00']],
  // A Saturday and a Sunday, at the ends of months.
  ['0 0 1W 6,9 *', ['2024-06-03T00:00:00', '2024-09-02T00:00:00', '2025-06-02T00:00:00']],
  ['0 0 30W 6,11 *', ['2024-06-28T00:00:00', '2024-11-29T00:00:00', '2025-06-30T00:00:00']],
  ['0 0 L * *', ['2024-01-31T00:00:00', '2024-02-29T00:00:00', '2024-03-31T00:00:00']],
  ['0 0 LW * *', ['2024-01-31T00:00:00', '2024-02-29T00:00:00', '2024-03-29T00:00:00']],
  ['0 0 1 JAN,mar *', ['2024-03-01T00:00:00', '2025-01-01T00:00:00', '2025-03-01T00:00:00']],
  ['0 0 1 april-June *', ['2024-04-01T00:00:00', '2024-05-01T00:00:00', '2024-06-01T00:00:00']],
  ['0 0 ? * mon-Fri', ['2024-01-02T00:00:00', '2024-01-03T00:00:00', '2024-01-04T00:00:00']],
  ['0 0 * * 7', ['2024-01-07T00:00:00', '2024-01-14T00:00:00', '2024-01-21T00:00:00']],
  ['0 0 * * friL', ['2024-01-26T00:00:00', '2024-02-23T00:00:00', '2024-03-29T00:00:00']],
  ['0 0 * * 4#5', ['2024-02-29T00:00:00', '2024-05-30T00:00:00', '2024-08-29T00:00:00']],
  // A day of the month or one of the week.
  ['0 0 13 * 5', ['2024-01-05T00:00:00', '2024-01-12T00:00:00', '2024-01-13T00:00:00']],
  ['5/20 1-3/2 * * *', ['2024-01-01T01:05:00', '2024-01-01T01:25:00', '2024-01-01T01:45:00']],
  ['0 0 29 2 *', ['2024-02-29T00:00:00', '2028-02-29T00:00:00', '2032-02-29T00:00:00']],
  ['@weekly', ['2024-01-07T00:00:00', '2024-01-14T00:00:00', '2024-01-21T00:00:00']],
  ['@hourly', ['2024-01-01T01:00:00', '2024-01-01T02:00:00', '2024-01-01T03:00:00']],
  ['0 0 30 2 *', []],
  ['0 0 1 1 * 1999', []],
])('%s', (expression, expected) => {
  expect(runs(expression, NEW_YEAR)).toEqual(expected);
});

test.each([
  ['x', 'exactly five, six, or seven space separated parts are required'],
  ['60 * * * *', 'Invalid value for minute: 60'],
  ['* * 0 * *', 'Invalid value for day'],
  ['* * * foo *', 'entry 4 (foo) contains illegal characters'],
  ['* * * * 8', 'Invalid value for dayOfWeek: 8'],
  ['* * * * * 2100', 'bad year 2100, not 1970 to 2099'],
  ['* * * * * 1969-1980', 'bad year 1969, not 1970 to 2099'],
  ['*/0 * * * *', 'illegal stepping: 0'],
  ['5-2 * * * *', "From value is larger than to value: '5-2'"],
  ['1,, * * * *', 'entry minute () is empty'],
  ['1-2-3 * * * *', "illegal range: '1-2-3'"],
  ['x', 'fields are [second] minute hour day-of-month month day-of-week [year]'],
])('%s is refused', (expression, reason) => {
  expect(() => parseCron(expression)).toThrow(reason);
});
