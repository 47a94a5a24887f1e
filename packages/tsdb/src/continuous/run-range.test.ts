import { parseRfc3339 } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { LIMITS } from '../limits.ts';
import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

const NOW = '2022-03-01T10:07:30Z';
const at = (time: string): bigint => parseRfc3339(time) ?? 0n;

let service: TestService;
beforeEach(async () => {
  service = await startTestService({ clock: new TestClock(at(NOW)) });
  await service.query('CREATE DATABASE d');
  await service.query(
    'CREATE CONTINUOUS QUERY c ON d BEGIN SELECT sum(f) INTO sums FROM m GROUP BY time(1m), host END',
  );
});
afterEach(() => service.close());

async function run(fields: Record<string, unknown>) {
  const answer = await service.get('/api/continuous-queries/run', {
    method: 'POST',
    body: JSON.stringify({ database: 'd', name: 'c', ...fields }),
  });
  const lines = answer.text.trim().split('\n');
  return { status: answer.status, documents: lines.map((line) => JSON.parse(line) as unknown) };
}

async function sums(): Promise<unknown> {
  const { json } = await service.query('SELECT sum, host FROM sums', { db: 'd' });
  return json.results[0].series?.[0].values;
}

test('computes the windows that the range touches, and no others', async () => {
  const points = [
    ['a', 1, '09:59:59'],
    ['a', 2, '10:00:00'],
    ['b', 4, '10:00:59'],
    ['a', 8, '10:01:10'],
    ['a', 16, '10:02:00'],
  ].map(([host, f, time]) => `m,host=${host} f=${f} ${at(`2022-03-01T${time}Z`)}`);
  await service.write(points.join('\n'), { db: 'd' });

  const { status, documents } = await run({
    start: '2022-03-01T10:00:30Z',
    end: '2022-03-01T10:01:01Z',
  });

  expect(status).toBe(200);
  const range = { start: '2022-03-01T10:00:00Z', end: '2022-03-01T10:02:00Z' };
  expect(documents[0]).toEqual({ ...range, windows: 2 });
  expect(documents[1]).toMatchObject({ ...range, windowsDone: 2 });
  expect(documents[2]).toMatchObject({ done: true });
  expect(await sums()).toEqual([
    ['2022-03-01T10:00:00Z', 2, 'a'],
    ['2022-03-01T10:00:00Z', 4, 'b'],
    ['2022-03-01T10:01:00Z', 8, 'a'],
  ]);
});

test('a long range goes in steps that follow one another without a gap', async () => {
  const windows = LIMITS.continuousRunWindows.value * 2 + 3;
  const end = at('2022-03-01T10:07:00Z');
  const start = end - BigInt(windows) * 60_000_000_000n;
  const points = Array.from(
    { length: windows },
    (_, i) => `m,host=a f=1 ${start + BigInt(i) * 60_000_000_000n}`,
  );
  await service.write(points.join('\n'), { db: 'd' });

  // The window that the present lies in has not ended.
  const { documents } = await run({
    start: new Date(Number(start / 1_000_000n)).toISOString(),
    end: '2023-01-01T00:00:00Z',
  });

  const steps = documents.slice(1, -1) as { start: string; end: string; windowsDone: number }[];
  expect(steps.map((step) => step.windowsDone)).toEqual([500, 1000, windows]);
  expect(steps[0]?.end).toBe(steps[1]?.start);
  expect(steps[2]?.end).toBe('2022-03-01T10:07:00Z');
  expect(documents.at(-1)).toEqual({ done: true, written: windows });
  const { json } = await service.query('SELECT count(sum), sum(sum) FROM sums', { db: 'd' });
  expect(json.results[0].series[0].values[0].slice(1)).toEqual([windows, windows]);
});

test('with tz(), whole days of that clock are written, also where it changes', async () => {
  await service.query(
    "CREATE CONTINUOUS QUERY days ON d BEGIN SELECT count(f) INTO days FROM m GROUP BY time(1d) tz('Europe/Berlin') END",
  );
  const first = at('2021-10-28T22:00:00Z');
  const hours = Array.from(
    { length: 97 },
    (_, i) => `m f=1 ${first + BigInt(i) * 3600n * 10n ** 9n}`,
  );
  await service.write(hours.join('\n'), { db: 'd' });

  const { documents } = await run({
    name: 'days',
    start: '2021-10-29T12:00:00Z',
    end: '2021-10-31T12:00:00Z',
  });

  expect(documents[0]).toEqual({
    start: '2021-10-28T22:00:00Z',
    end: '2021-10-31T23:00:00Z',
    windows: 3,
  });
  expect(documents[1]).toMatchObject({ windowsDone: 3, written: 3 });
  const { json } = await service.query('SELECT count FROM days', { db: 'd' });
  expect(json.results[0].series[0].values).toEqual([
    ['2021-10-28T22:00:00Z', 24],
    ['2021-10-29T22:00:00Z', 24],
    ['2021-10-30T22:00:00Z', 25],
  ]);
});

test('with tz(), the steps of a long range begin where windows do', async () => {
  const days = LIMITS.continuousRunWindows.value + 100;
  await service.query(
    "CREATE CONTINUOUS QUERY days ON d BEGIN SELECT count(f) INTO days FROM m GROUP BY time(1d) tz('Europe/Berlin') END",
  );
  await service.write(`m f=1 ${at('2021-10-31T22:30:00Z')}`, { db: 'd' });
  const end = at('2022-02-28T23:00:00Z');
  const { documents } = await run({
    name: 'days',
    start: new Date(Number((end - BigInt(days) * 86_400n * 10n ** 9n) / 1_000_000n)).toISOString(),
    end: '2022-02-28T23:00:00Z',
  });

  const steps = documents.slice(1, -1) as { start: string; end: string; windowsDone: number }[];
  // From a midnight of summer, 500 times 24 hours end an hour before one of winter.
  expect(steps.map((step) => step.windowsDone)).toEqual([499, days]);
  expect(steps.map((step) => [step.start, step.end])).toEqual([
    ['2020-07-08T22:00:00Z', '2021-11-19T23:00:00Z'],
    ['2021-11-19T23:00:00Z', '2022-02-28T23:00:00Z'],
  ]);
  expect(documents.at(-1)).toEqual({ done: true, written: 1 });
});

test('a failure in the middle is the last line', async () => {
  await service.query('CREATE DATABASE gone');
  await service.query(
    'CREATE CONTINUOUS QUERY g ON d BEGIN SELECT sum(f) INTO gone..x FROM m GROUP BY time(1m) END',
  );
  await service.query('DROP DATABASE gone');
  await service.write(`m f=1 ${at('2022-03-01T10:00:00Z')}`, { db: 'd' });
  const { status, documents } = await run({
    name: 'g',
    start: '2022-03-01T10:00:00Z',
    end: '2022-03-01T10:05:00Z',
  });
  expect(status).toBe(200);
  expect(documents.at(-1)).toEqual({ error: expect.stringContaining('gone') });
});

const RANGE = { start: '2022-03-01T10:00:00Z', end: '2022-03-01T10:05:00Z' };

test.each([
  [{ ...RANGE, database: 'x' }, 404, 'database not found: x'],
  [{ ...RANGE, name: 'x' }, 404, 'continuous query not found: x'],
  [{ ...RANGE, name: 1 }, 400, 'database and name must be texts'],
  [{ ...RANGE, start: 'then' }, 400, 'start must be a time as RFC 3339'],
  [{ start: RANGE.end, end: RANGE.start }, 400, 'the range contains no completed window'],
  [
    { start: '2022-03-01T10:07:00Z', end: '2022-03-01T10:08:00Z' },
    400,
    'the range contains no completed window',
  ],
])('%j is refused', async (fields, status, error) => {
  const answer = await run(fields);
  expect([answer.status, answer.documents]).toEqual([status, [{ error }]]);
});
