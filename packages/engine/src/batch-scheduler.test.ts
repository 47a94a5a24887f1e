// Schedules of batch tasks in virtual time, over both changes of daylight saving: nothing drifts, nothing is skipped.
import { parseRfc3339, formatRfc3339 } from '@tidemark/core';
import type { Clock, Timestamp } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import type { RunningTask } from '@tidemark/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BatchScheduler, queryNodesOf } from './batch-scheduler.ts';
import type { Clusters } from './database/clusters.ts';
import { ticksBetween } from './database/schedule.ts';

const zone = process.env['TZ'];
beforeAll(() => {
  process.env['TZ'] = 'Europe/Berlin';
});
afterAll(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

function nodeOf(schedule: string): ReturnType<typeof queryNodesOf>[number] {
  const script = `batch|query('SELECT v FROM "d"."r"."m"').period(1m)${schedule}|log()`;
  const { pipeline, error } = buildPipeline(script, {});
  const [node] = pipeline === undefined ? [] : queryNodesOf(pipeline);
  if (node === undefined) throw new Error(String(error));
  return node;
}

function ticks(schedule: string, start: string, stop: string): readonly string[] {
  const [from, to] = [parseRfc3339(start) ?? 0n, parseRfc3339(stop) ?? 0n];
  return [...ticksBetween(nodeOf(schedule).schedule, from, to)].map(formatRfc3339);
}

// Clocks go forward on 29 March 2026 at 01:00 UTC, and back on 25 October at 01:00 UTC.
describe.each([
  ['forward', '2026-03-28T00:00:00Z', '2026-03-31T00:00:00Z'],
  ['back', '2026-10-24T00:00:00Z', '2026-10-27T00:00:00Z'],
])('over three days in which clocks go %s', (_direction, start, stop) => {
  test.each([
    ['.every(10m)', 3 * 144],
    ['.every(10m).align()', 3 * 144],
    ['.every(1h).align().offset(5m)', 3 * 24],
    ["cron('0 */10 * * * *')", 3 * 144],
    ["cron('0 0 * * * *')", 3 * 24],
  ])('%s asks %i times', (schedule, count) => {
    const found = ticks(schedule.startsWith('.') ? schedule : `.${schedule}`, start, stop);

    expect(found).toHaveLength(count);
    expect(new Set(found).size).toBe(count);
  });

  test.each(["cron('0 30 2 * * *')", "cron('0 0 12 * * *')"])('%s asks once a day', (schedule) => {
    expect(ticks(`.${schedule}`, start, stop)).toHaveLength(3);
  });
});

/** Time that passes only when told; who sleeps is woken in order. */
class VirtualClock implements Clock {
  #now: Timestamp;
  #sleepers: { at: Timestamp; wake: () => void }[] = [];

  constructor(start: Timestamp) {
    this.#now = start;
  }

  now(): Timestamp {
    return this.#now;
  }

  monotonicMs(): number {
    return Number(this.#now / 1_000_000n);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const at = this.#now + BigInt(Math.round(delayMs * 1e6));
      this.#sleepers.push({ at, wake: resolve });
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  async passTo(end: Timestamp): Promise<void> {
    for (;;) {
      // Whoever was woken gets the chance to sleep again.
      for (let i = 0; i < 10; i++) await Promise.resolve();
      this.#sleepers.sort((a, b) => (a.at < b.at ? -1 : 1));
      const first = this.#sleepers[0];
      if (first === undefined || first.at > end) break;
      this.#sleepers.shift();
      if (first.at > this.#now) this.#now = first.at;
      first.wake();
    }
    this.#now = end;
  }
}

test('queries of a day lie exactly on their ticks, however long each one takes', async () => {
  const start = parseRfc3339('2026-03-28T23:00:00.123Z') ?? 0n;
  const clock = new VirtualClock(start);
  const asked: string[] = [];
  const clusters = {
    cluster: () => ({}),
    query: async (_cluster: string, statement: string) => {
      asked.push(/time < '([^']+)'/.exec(statement)?.[1] ?? statement);
      // Each answer is late, and never equally.
      await clock.sleep(1000 + ((asked.length * 7919) % 20_000));
      return [];
    },
  };
  const scheduler = new BatchScheduler({
    clusters: clusters as unknown as Clusters,
    clock,
    concurrency: 1,
    timeoutMs: 60_000,
  });
  const problems: (string | undefined)[] = [];
  const pushed: Timestamp[] = [];
  const task = {
    error: undefined,
    ready: () => Promise.resolve(),
    pushQueryResult: (_node: string, _series: unknown, { stop }: { stop: Timestamp }) => {
      pushed.push(stop);
    },
    queryFailed: () => undefined,
  };
  const { pipeline } = buildPipeline(
    'batch|query(\'SELECT v FROM "d"."r"."m"\').period(1m).every(1m).align()|log()',
    {},
  );
  if (pipeline === undefined) throw new Error('the script is right');
  const source = scheduler.start(pipeline, task as unknown as RunningTask, (problem) =>
    problems.push(problem),
  );

  await clock.passTo(start + 86_430n * 1_000_000_000n);
  // An answer may still be on its way.
  const closed = source.close();
  await clock.passTo(start + 86_460n * 1_000_000_000n);
  await closed;

  const minute = 60_000_000_000n;
  const first = (start / minute + 1n) * minute;
  const wanted = Array.from({ length: 24 * 60 }, (_, i) => first + BigInt(i) * minute);
  expect(pushed).toEqual(wanted);
  expect(asked).toEqual(wanted.map(formatRfc3339));
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});
