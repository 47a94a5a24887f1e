import { NANOS_PER_MINUTE as MINUTE, formatRfc3339, parseRfc3339 } from '@tidemark/core';
import { openZone } from '@tidemark/query';
import { expect, test } from 'vitest';

import { dueRun } from './schedule.ts';
import type { ContinuousSchedule } from './schedule.ts';

const at = (time: string): bigint => parseRfc3339(`2022-03-01T${time}Z`) ?? 0n;

function run(schedule: ContinuousSchedule, now: string, last?: string): string[] | undefined {
  const due = dueRun(schedule, at(now), last === undefined ? undefined : at(last));
  if (due === undefined) return undefined;
  return [due.boundary, due.start, due.end].map((time) => formatRfc3339(time).slice(11, 19));
}

const five: ContinuousSchedule = { intervalNanos: 5n * MINUTE, offsetNanos: 0n };

test.each([
  [
    'first run: the latest completed window',
    five,
    '10:07:30',
    undefined,
    ['10:05:00', '10:00:00', '10:05:00'],
  ],
  ['not due again within a window', five, '10:09:59', '10:05:00', undefined],
  ['due after the boundary', five, '10:10:00.5', '10:05:00', ['10:10:00', '10:05:00', '10:10:00']],
  [
    'more often than windows end: the current one as well',
    { ...five, everyNanos: MINUTE },
    '10:07:00.3',
    '10:06:00',
    ['10:07:00', '10:05:00', '10:10:00'],
  ],
  [
    'less often: all windows since',
    { ...five, everyNanos: 10n * MINUTE },
    '10:10:00.3',
    '10:00:00',
    ['10:10:00', '10:00:00', '10:10:00'],
  ],
  [
    'FOR reaches further back',
    { ...five, forNanos: 30n * MINUTE },
    '10:10:00.3',
    '10:05:00',
    ['10:10:00', '09:40:00', '10:10:00'],
  ],
  [
    'an offset moves windows and runs',
    { ...five, offsetNanos: MINUTE },
    '10:06:01',
    '10:01:00',
    ['10:06:00', '10:01:00', '10:06:00'],
  ],
] as const)('%s', (_, schedule, now, last, expected) => {
  expect(run(schedule, now, last)).toEqual(expected);
});

test.each([
  ['a day of the zone', {}, '2022-03-01T10:00', ['2022-02-27T23:00', '2022-02-28T23:00']],
  ['a day of 23 hours', {}, '2022-03-28T10:00', ['2022-03-26T23:00', '2022-03-27T22:00']],
  ['a day of 25 hours', {}, '2022-10-31T10:00', ['2022-10-29T22:00', '2022-10-30T23:00']],
  [
    'FOR counts days of the clock, over a long one too',
    { forNanos: 48n * 60n * MINUTE },
    '2022-10-31T10:00',
    ['2022-10-28T22:00', '2022-10-30T23:00'],
  ],
  [
    'EVERY two days',
    { everyNanos: 48n * 60n * MINUTE },
    '2022-03-29T10:00',
    ['2022-03-26T23:00', '2022-03-28T22:00'],
  ],
])('with a time zone: %s', (_, resample, now, expected) => {
  const instant = (time: string): bigint => parseRfc3339(`${time}:00Z`) ?? 0n;
  const day = { intervalNanos: 24n * 60n * MINUTE, offsetNanos: 0n };
  const schedule = { ...day, ...resample, zone: openZone('Europe/Berlin') };

  const due = dueRun(schedule, instant(now), undefined);

  expect([due?.start, due?.end]).toEqual(expected.map(instant));
  expect(dueRun(schedule, instant(now), due?.boundary)).toBeUndefined();
});
