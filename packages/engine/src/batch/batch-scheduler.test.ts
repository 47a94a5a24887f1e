// Schedules of batch tasks in virtual time, over both changes of daylight saving: nothing drifts,
// nothing is skipped.
import { parseRfc3339, formatRfc3339, Unavailable } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import type { QueryResultSeries, RunningTask } from '@tidemark/runtime';
import { TestClock } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BatchScheduler } from './batch-scheduler.ts';
import type { Clusters } from '../database/clusters.ts';
import { ticksBetween } from '../database/schedule.ts';
import { queryNodesOf } from './query-nodes.ts';
import { QuerySlots } from './query-slots.ts';
import type { Resumption, TaskSource } from '../tasks/task-source.ts';

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
  return [...ticksBetween(nodeOf(schedule).schedule, { start: from, stop: to })].map(formatRfc3339);
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
    ["cron('0 */10 * * * * *')", 3 * 144],
    ["cron('0 0 * * * * *')", 3 * 24],
    ["cron('*/10 * * * *')", 3 * 144],
  ])('%s asks %i times', (schedule, count) => {
    const found = ticks(schedule.startsWith('.') ? schedule : `.${schedule}`, start, stop);

    expect(found).toHaveLength(count);
    expect(new Set(found).size).toBe(count);
  });

  test.each(["cron('0 30 2 * * * *')", "cron('30 2 * * *')", "cron('0 12 * * * *')"])(
    '%s asks once a day',
    (schedule) => {
      expect(ticks(`.${schedule}`, start, stop)).toHaveLength(3);
    },
  );
});

type Query = (statement: string) => Promise<readonly QueryResultSeries[]>;

/** Starts the queries of a task that only writes down what it is given. */
function feed(
  clock: TestClock,
  { query }: { readonly query: (cluster: string, statement: string) => ReturnType<Query> },
  {
    script,
    concurrency = 16,
    missedRuns = 'skip',
    missedRunsLimit = 100,
    from,
  }: {
    readonly script: string;
    readonly concurrency?: number;
    readonly missedRuns?: string;
    readonly missedRunsLimit?: number;
    readonly from?: Resumption;
  },
): {
  readonly source: TaskSource;
  /** The problems shown for the task. */
  readonly problems: readonly string[];
  readonly pushed: readonly (readonly [string, Timestamp])[];
  readonly failures: readonly string[];
  /** Times to which the task was moved, and `live`. */
  readonly moves: readonly (Timestamp | 'live')[];
  readonly gaveUp: readonly string[];
} {
  const problems: string[] = [];
  const pushed: (readonly [string, Timestamp])[] = [];
  const failures: string[] = [];
  const moves: (Timestamp | 'live')[] = [];
  const gaveUp: string[] = [];
  const config = {
    catchUpMs: 0,
    catchUpLatenessMs: 0,
    catchUpTimeoutMs: 600_000,
    missedRuns,
    missedRunsLimit,
  };
  const scheduler = new BatchScheduler({
    clusters: { cluster: () => ({}), query } as unknown as Clusters,
    clock,
    slots: new QuerySlots({ clock, concurrency, timeoutMs: 60_000 }),
    config,
    log: () => undefined,
  });
  const task = {
    error: undefined,
    ready: () => Promise.resolve(),
    pushQueryResult: (node: string, _series: unknown, { stop }: { stop: Timestamp }) => {
      pushed.push([node, stop]);
    },
    queryFailed: (_node: string, message: string) => failures.push(message),
    advanceTo: (time: Timestamp) => moves.push(time),
    goLive: () => moves.push('live'),
  };
  const queries = script
    .split('|')
    .map((schedule) => `batch|query('SELECT v FROM "d"."r"."m"').period(1m)${schedule}|log()`);
  const { pipeline, error } = buildPipeline(queries.join('\n'), {});
  if (pipeline === undefined) throw new Error(String(error));
  const unit = {
    id: 't',
    unit: 't',
    definition: 'x',
    pipeline,
    task: task as unknown as RunningTask,
    databases: ['d'],
    throughput: 0,
    meanThroughput: 0,
    get problem(): string | undefined {
      return problems.at(-1);
    },
    set problem(text: string | undefined) {
      if (text !== undefined) problems.push(text);
    },
  };
  const source = scheduler.start(unit, {
    from,
    gaveUp: (reason) => gaveUp.push(reason),
  });
  return { source, problems, pushed, failures, moves, gaveUp };
}

test('queries of a day lie exactly on their ticks, however long each one takes', async () => {
  const start = parseRfc3339('2026-03-28T23:00:00.123Z') ?? 0n;
  const clock = new TestClock(start);
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
  const { source, problems, pushed } = feed(clock, clusters, {
    script: '.every(1m).align()',
    concurrency: 1,
  });

  await clock.passTo(start + 86_430n * 1_000_000_000n);
  // An answer may still be on its way.
  const closed = source.close();
  await clock.passTo(start + 86_460n * 1_000_000_000n);
  await closed;

  const minute = 60_000_000_000n;
  const first = (start / minute + 1n) * minute;
  const wanted = Array.from({ length: 24 * 60 }, (_, i) => first + BigInt(i) * minute);
  expect(pushed).toEqual(wanted.map((stop) => ['query1', stop]));
  expect(asked).toEqual(wanted.map(formatRfc3339));
  expect(problems).toEqual([]);
});

describe('runs that were missed', () => {
  const SECOND = 1_000_000_000n;
  const MINUTE = 60n * SECOND;
  const now = parseRfc3339('2026-03-28T23:10:30Z') ?? 0n;
  const at = (minutes: number, seconds = 0): Timestamp =>
    now - 30n * SECOND + BigInt(minutes) * MINUTE + BigInt(seconds) * SECOND;
  /** Saved five and a half minutes ago; the queries had run up to then. */
  const from = (queries: readonly (readonly [string, Timestamp])[]): Resumption => ({
    position: { time: at(-5, 30), begun: at(-60), marks: [], queries },
    rerun: { now: at(-5, 30), since: at(-60), begun: at(-60) },
  });
  const answer = { query: () => Promise.resolve([]) };

  async function run(
    setup: Partial<Parameters<typeof feed>[2]>,
    clusters: Parameters<typeof feed>[1] = answer,
  ): Promise<ReturnType<typeof feed>> {
    const clock = new TestClock(now);
    const fed = feed(clock, clusters, { script: '.every(1m).align()', ...setup });
    await clock.passTo(at(2, 30));
    const closed = fed.source.close();
    await clock.passTo(at(3));
    await closed;
    return fed;
  }

  test('all are asked in the order of their ticks, each in its own time', async () => {
    const fed = await run({
      script: '.every(1m).align()|.every(2m).align()',
      missedRuns: 'all',
      from: from([
        ['query1', at(-3)],
        ['query3', at(-4)],
      ]),
    });

    expect(fed.pushed).toEqual([
      ['query1', at(-2)],
      ['query3', at(-2)],
      ['query1', at(-1)],
      ['query1', at(0)],
      ['query3', at(0)],
      ['query1', at(1)],
      ['query1', at(2)],
      ['query3', at(2)],
    ]);
    expect(fed.moves).toEqual([at(-2), at(-2), at(-1), at(0), at(0), now, 'live']);
  });

  test('a schedule without alignment goes on with its own phase, an offset is kept', async () => {
    const fed = await run({
      script: '.every(2m).offset(10s)',
      missedRuns: 'all',
      from: from([['query1', at(-4, 7)]]),
    });

    expect(fed.pushed.map(([, stop]) => stop)).toEqual([at(-2, 7), at(0, 7), at(2, 7)]);
  });

  test('only the last is asked where that is configured', async () => {
    const fed = await run({ missedRuns: 'last', from: from([['query1', at(-5)]]) });

    expect(fed.pushed.map(([, stop]) => stop)).toEqual([at(0), at(1), at(2)]);
  });

  test('runs the newest queries if too many are due', async () => {
    const limits = { missedRuns: 'all', missedRunsLimit: 2 };
    const fed = await run({ ...limits, from: from([['query1', at(-50)]]) });

    expect(fed.pushed.map(([, stop]) => stop)).toEqual([at(-1), at(0), at(1), at(2)]);
  });

  test('a query that never had an answer has missed what was due since its task began', async () => {
    const fed = await run({ script: '.every(25m)', missedRuns: 'all', from: from([]) });

    expect(fed.pushed.map(([, stop]) => stop)).toEqual([at(-35), at(-10)]);
  });

  test('without being configured none are asked', async () => {
    const fed = await run({});

    expect(fed.pushed.map(([, stop]) => stop)).toEqual([at(1), at(2)]);
    expect(fed.moves).toEqual([]);
  });

  test('they wait for a database that is away, and are given up after the timeout', async () => {
    let failuresLeft = 3;
    const query = (): ReturnType<Query> =>
      failuresLeft-- > 0 ? Promise.reject(new Unavailable('away')) : Promise.resolve([]);
    const setup = { missedRuns: 'all', from: from([['query1', at(-2)]]) };
    const back = await run(setup, { query });
    failuresLeft = Number.POSITIVE_INFINITY;
    const clock = new TestClock(now);
    const gone = feed(clock, { query }, { script: '.every(1m).align()', ...setup });
    await clock.passTo(at(15));
    const closed = gone.source.close();
    await clock.passTo(at(20));
    await closed;

    expect(back.pushed.map(([, stop]) => stop)).toEqual([at(-1), at(0), at(1), at(2)]);
    expect(back.failures).toEqual(['away', 'away', 'away']);
    expect(back.problems).toEqual(Array.from({ length: 3 }, () => 'query1: away'));
    expect(gone.pushed).toEqual([]);
    expect(gone.gaveUp).toEqual(['gave up missed runs: query1: away']);
    expect(gone.moves.at(-1)).toBe('live');
  });
});

test('a query that fails is repeated after 1, 2 and 4 seconds, and given up until the next tick', async () => {
  const start = parseRfc3339('2026-03-28T23:00:00Z') ?? 0n;
  const clock = new TestClock(start);
  const askedMs: number[] = [];
  const query = (): ReturnType<Query> => {
    askedMs.push(Number((clock.now() - start) / 1_000_000n));
    return Promise.reject(new Unavailable('connection refused'));
  };

  const { source, problems, failures } = feed(clock, { query }, { script: '.every(1m)' });
  await clock.passTo(start + 125n * 1_000_000_000n);
  const closed = source.close();
  await clock.passTo(start + 200n * 1_000_000_000n);
  await closed;

  expect(askedMs).toEqual([60_000, 61_000, 63_000, 67_000, 120_000, 121_000, 123_000]);
  expect(failures).toHaveLength(askedMs.length);
  expect(new Set(problems)).toEqual(new Set(['query1: connection refused']));
});

test('no more queries run at the same time than are allowed', async () => {
  const start = parseRfc3339('2026-03-28T23:00:00Z') ?? 0n;
  const clock = new TestClock(start);
  let running = 0;
  let most = 0;
  const query = async (): Promise<readonly QueryResultSeries[]> => {
    most = Math.max(most, ++running);
    await clock.sleep(1000);
    running--;
    return [];
  };

  const script = Array.from({ length: 5 }, () => '.every(1m)').join('|');
  const { source, pushed } = feed(clock, { query }, { script, concurrency: 2 });
  await clock.passTo(start + 70n * 1_000_000_000n);
  const closed = source.close();
  await clock.passTo(start + 80n * 1_000_000_000n);
  await closed;

  expect(most).toBe(2);
  expect(pushed).toHaveLength(5);
});
