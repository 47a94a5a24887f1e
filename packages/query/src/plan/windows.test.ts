// Windows of GROUP BY time(…, …) tz(…): they follow the wall clock without gaps, also across clock
// changes.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { openZone } from '../analyse/zone.ts';
import { MemorySource } from '../testing/memory-source.ts';
import { answer, contextOf, DATABASE, SECOND } from '../testing/run-statement.ts';
import { Windows } from './windows.ts';

const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;

function at(text: string): bigint {
  return BigInt(Date.parse(text)) * 1_000_000n;
}

function textOf(time: bigint): string {
  return new Date(Number(time / 1_000_000n)).toISOString().slice(0, 16);
}

describe('the window of a time', () => {
  const BERLIN = 'Europe/Berlin';

  test.each([
    [
      'a week from Monday, forward',
      BERLIN,
      7n * DAY,
      -3n * DAY,
      '2020-03-25',
      '2020-03-22T23:00',
      '2020-03-29T22:00',
    ],
    [
      'the week after',
      BERLIN,
      7n * DAY,
      -3n * DAY,
      '2020-03-29T22:30',
      '2020-03-29T22:00',
      '2020-04-05T22:00',
    ],
    [
      'the same, by a positive offset',
      BERLIN,
      7n * DAY,
      4n * DAY,
      '2020-03-29T22:30',
      '2020-03-29T22:00',
      '2020-04-05T22:00',
    ],
    [
      'a week from Monday, back',
      BERLIN,
      7n * DAY,
      -3n * DAY,
      '2019-10-27T12:00',
      '2019-10-20T22:00',
      '2019-10-27T23:00',
    ],
    [
      'the same, by a positive offset',
      BERLIN,
      7n * DAY,
      4n * DAY,
      '2019-10-27T12:00',
      '2019-10-20T22:00',
      '2019-10-27T23:00',
    ],
    [
      'a day of 23 hours',
      BERLIN,
      DAY,
      0n,
      '2020-03-29T12:00',
      '2020-03-28T23:00',
      '2020-03-29T22:00',
    ],
    [
      'a border that the clock shows twice',
      BERLIN,
      2n * HOUR,
      0n,
      '2019-10-27T01:30',
      '2019-10-27T00:00',
      '2019-10-27T03:00',
    ],
    [
      'a border that the clock skips',
      BERLIN,
      2n * HOUR,
      30n * MINUTE,
      '2020-03-29T01:10',
      '2020-03-29T01:00',
      '2020-03-29T02:30',
    ],
    [
      'set back over a border',
      'America/New_York',
      2n * HOUR,
      90n * MINUTE,
      '2021-11-07T06:10',
      '2021-11-07T05:30',
      '2021-11-07T08:30',
    ],
    [
      'the first of two hours of one name',
      BERLIN,
      HOUR,
      0n,
      '2019-10-27T00:30',
      '2019-10-27T00:00',
      '2019-10-27T01:00',
    ],
    [
      'the second of them',
      BERLIN,
      HOUR,
      0n,
      '2019-10-27T01:30',
      '2019-10-27T01:00',
      '2019-10-27T02:00',
    ],
    [
      'short ones up to the change',
      BERLIN,
      7n * MINUTE,
      0n,
      '2020-03-29T00:59',
      '2020-03-29T00:58',
      '2020-03-29T01:00',
    ],
    [
      'short ones from the change',
      BERLIN,
      7n * MINUTE,
      0n,
      '2020-03-29T01:00',
      '2020-03-29T01:00',
      '2020-03-29T01:01',
    ],
    [
      'a day that does not exist',
      'Pacific/Apia',
      DAY,
      0n,
      '2011-12-30T09:59',
      '2011-12-29T10:00',
      '2011-12-30T10:00',
    ],
    [
      'half an hour of change',
      'Australia/Lord_Howe',
      DAY,
      0n,
      '2023-04-01T12:00',
      '2023-03-31T13:00',
      '2023-04-01T13:00',
    ],
  ])('%s', (_, zone, everyNanos, offsetNanos, time, start, end) => {
    const windows = new Windows({ everyNanos, offsetNanos }, openZone(zone));

    const window = windows.of(at(`${time}Z`));

    expect([textOf(window.start), textOf(window.end)]).toEqual([start, end]);
  });

  test('is the only one that holds it, and the next begins where it ends', () => {
    const zones = [BERLIN, 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia', 'UTC'];
    const minutes = fc.bigInt(1n, 20_000n);
    // From 2009, when Samoa introduced summer time, to 2030.
    const seconds = fc.bigInt(1_240_000_000n, 1_900_000_000n);
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        minutes,
        fc.bigInt(-20_000n, 20_000n),
        seconds,
        (name, every, offset, second) => {
          const interval = { everyNanos: every * MINUTE, offsetNanos: offset * MINUTE };
          const windows = new Windows(interval, openZone(name));
          const time = second * 1_000_000_000n;

          const window = windows.of(time);

          expect(window.start <= time && time < window.end).toBe(true);
          expect(windows.of(window.start)).toEqual(window);
          expect(windows.of(window.end - 1n)).toEqual(window);
          expect(windows.after(window.start)).toBe(window.end);
          expect(windows.before(window.end)).toBe(window.start);
          expect(windows.of(window.end).start).toBe(window.end);
        },
      ),
    );
  });
});

describe('GROUP BY time with tz()', () => {
  async function counts(range: readonly [string, string], clauses: string): Promise<unknown> {
    const source = new MemorySource();
    source.addPolicy(DATABASE, 'autogen', 7n * DAY);
    const [from, to] = [at(range[0]), at(range[1])];
    const hours = Array.from(
      { length: Number((to - from) / HOUR) },
      (_, i) => from + BigInt(i) * HOUR,
    );
    source.write(
      DATABASE,
      'autogen',
      hours.map((time) => ({ measurement: 'm', tags: [], fields: [['v', 1]], time })),
    );
    const between = `time >= ${from} AND time < ${to}`;
    const text = await answer(
      `SELECT count(v) FROM m WHERE ${between} ${clauses}`,
      await contextOf(source),
    );
    const values: [number, number][] = JSON.parse(text).results[0].series[0].values;
    return values.map(([time, count]) => [textOf(BigInt(time) * SECOND), count]);
  }

  const WEEKS = ['2019-10-13T22:00:00Z', '2019-11-03T23:00:00Z'] as const;

  test.each(['-3d', '4d', '-10d', '11d'])('counts weeks from Monday with %s', async (offset) => {
    const clauses = `GROUP BY time(7d, ${offset}) tz('Europe/Berlin')`;
    const weeks = [
      ['2019-10-13T22:00', 168],
      ['2019-10-20T22:00', 169],
      ['2019-10-27T23:00', 168],
    ];

    expect(await counts(WEEKS, clauses)).toEqual(weeks);
    const newestFirst = clauses.replace(' tz', ' ORDER BY time DESC tz');
    expect(await counts(WEEKS, newestFirst)).toEqual(weeks.toReversed());
  });

  test.each(['', ' fill(none)'])('has no window twice where clocks go back%s', async (fill) => {
    const night = ['2021-11-07T04:00:00Z', '2021-11-07T11:00:00Z'] as const;
    const clauses = `GROUP BY time(2h)${fill} tz('America/New_York')`;

    expect(await counts(night, clauses)).toEqual([
      ['2021-11-07T04:00', 3],
      ['2021-11-07T07:00', 2],
      ['2021-11-07T09:00', 2],
    ]);
  });
});
