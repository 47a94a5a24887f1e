// A task that catches up from the log while its thread fails.
import { deferred } from '@tidemark/core';
import { PointBatchBuilder } from '@tidemark/runtime';
import type { PointBatch } from '@tidemark/runtime';
import { TestClock } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { PointRouter } from '../ingest/point-router.ts';
import type { Resumption } from '../tasks/task-source.ts';
import type { Unit } from '../tasks/unit.ts';
import { LogFeed } from './log-feed.ts';
import type { LogFeedParts } from './log-feed.ts';
import type { Rereading } from '../shared-log/point-rereader.ts';

const FROM: Resumption = {
  position: { time: 0n, begun: 0n, series: [] } as unknown as Resumption['position'],
  rerun: { now: 0n, since: 0n, begun: 0n },
};

type World = {
  readonly feed: LogFeed;
  readonly router: PointRouter;
  /** The calls that the task receives, in order. */
  readonly told: (string | number)[];
  /** Readings of the log, each with its end. */
  readonly readings: { readonly wanted: Rereading; readonly end: (isGiven: boolean) => void }[];
  readonly log: { dispatched: number; last: number };
  /** Whether the task takes no more. */
  isBusy: boolean;
  readonly free: () => void;
};

function open({
  from,
  saved = from === undefined ? 'none' : 5,
  waitingMax = 10,
}: {
  readonly from?: Resumption;
  /** The records in its saved state; `none` without a saved state. */
  readonly saved?: number | 'none';
  readonly waitingMax?: number;
}): World {
  const router = new PointRouter(waitingMax);
  const told: (string | number)[] = [];
  const readings: World['readings'] = [];
  const log = { dispatched: 7, last: 7 };
  const points = {
    get dispatched() {
      return log.dispatched;
    },
    get last() {
      return log.last;
    },
    missingAfter: () => 0,
    again: (wanted: Rereading) =>
      new Promise<boolean>((end) => void readings.push({ wanted, end })),
  };
  const free = deferred();
  const task = {
    taskId: 't',
    error: undefined,
    ready: () => (world.isBusy ? free.promise : undefined),
    processed: () => undefined,
    push: ({ record }: PointBatch) => void told.push(record ?? 'no record'),
    pushDue: ({ record }: PointBatch) => void told.push(`${record} in virtual time`),
    advanceTo: () => void told.push('advance'),
    goLive: () => void told.push('live'),
    onError: () => undefined,
  };
  const feed = new LogFeed(
    {
      points: points as unknown as LogFeedParts['points'],
      router,
      clock: new TestClock(),
      log: () => undefined,
      savedSequence: () => (saved === 'none' ? undefined : saved),
    },
    { id: 't', unit: 't', task } as unknown as Unit,
    { from, dbrps: [{ db: 'd', rp: 'r' }], gaveUp: () => undefined },
  );
  const world: World = { feed, router, told, readings, log, free: free.resolve, isBusy: false };
  return world;
}

/** Comes from the log by itself. */
function come({ router, log }: World, record: number): void {
  log.dispatched = record;
  log.last = Math.max(log.last, record);
  void router.dispatch(batchOf(record));
}

async function readOf({ readings }: World, count: number): Promise<World['readings'][number]> {
  for (let turn = 0; turn < 20 && readings.length < count; turn++) await Promise.resolve();
  const found = readings[count - 1];
  if (found === undefined) throw new Error(`no reading ${count}`);
  return found;
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

test('a task that goes on from a state reads what it has missed, and what comes meanwhile', async () => {
  const world = open({ from: FROM });
  const first = await readOf(world, 1);
  expect([first.wanted.first, first.wanted.through]).toEqual([6, 7]);

  come(world, 8);
  first.wanted.give(batchOf(6));
  first.wanted.give(batchOf(7));
  expect(world.feed.sequence).toBe(7);
  first.end(true);
  const second = await readOf(world, 2);
  expect([second.wanted.first, second.wanted.through]).toEqual([8, 8]);
  second.wanted.give(batchOf(8));
  second.end(true);
  await turns();
  come(world, 9);

  expect(world.told).toEqual([
    '6 in virtual time',
    '7 in virtual time',
    '8 in virtual time',
    'advance',
    'live',
    9,
  ]);
  expect(world.feed.sequence).toBe(9);
});

test('a task that too much waits for reads it from the log, and holds nobody back', async () => {
  const world = open({ waitingMax: 1 });
  world.isBusy = true;
  for (const record of [8, 9, 10]) come(world, record);
  await world.router.dispatch(batchOf(11));
  const { wanted, end } = await readOf(world, 1);
  expect([wanted.first, wanted.through]).toEqual([8, 10]);
  expect(wanted.ready()).toBeDefined();

  world.isBusy = false;
  world.free();
  expect(wanted.ready()).toBeUndefined();
  for (const record of [8, 9, 10]) wanted.give(batchOf(record));
  end(true);
  await turns();
  come(world, 12);

  expect(world.told).toEqual([8, 9, 10, 12]);
});

test('points that arrived while a task was held are read from the log', async () => {
  const world = open({});
  come(world, 8);
  world.feed.hold();
  come(world, 9);
  expect(world.feed.sequence).toBe(8);
  world.feed.release();
  const { wanted, end } = await readOf(world, 1);
  wanted.give(batchOf(9));
  end(true);
  await turns();

  expect(world.told).toEqual([8, 9]);
  expect(world.feed.sequence).toBe(9);
});

test('a task that does not get all of what it misses says only what it has', async () => {
  const world = open({ from: FROM });
  const { wanted, end } = await readOf(world, 1);
  wanted.give(batchOf(6));
  // The log is closed: the engine stops.
  end(false);
  await world.feed.settle();

  expect(world.feed.sequence).toBe(6);
  await world.feed.close();
});

test('a task that is started again while it catches up goes live once, at the end of what it is given again', async () => {
  const world = open({ from: FROM });
  const first = await readOf(world, 1);

  // Its thread fails, and it runs again.
  world.feed.suspend();
  world.feed.resume(FROM);
  first.end(false);
  const second = await readOf(world, 2);
  expect(world.told).toEqual([]);
  second.wanted.give(batchOf(7));
  second.end(true);
  await turns();

  expect(world.told).toEqual(['7 in virtual time', 'advance', 'live']);
  await world.feed.close();
});

test('a task that is started again before a state of it was saved is given what came since it began', async () => {
  const world = open({});
  come(world, 8);

  // Its thread fails, and it runs again.
  world.feed.suspend();
  come(world, 9);
  world.feed.resume(undefined);
  const { wanted, end } = await readOf(world, 1);
  expect([wanted.first, wanted.through]).toEqual([8, 9]);
  wanted.give(batchOf(8));
  wanted.give(batchOf(9));
  end(true);
  await turns();

  expect(world.told).toEqual([8, 8, 9]);
  expect(world.feed.begin).toBe(7);
  await world.feed.close();
});

test('a log that has begun anew is given from its first record on, whatever the state says', async () => {
  const pushed: (number | undefined)[] = [];
  const router = new PointRouter();
  const feed = new LogFeed(
    {
      points: {
        dispatched: 0,
        last: 0,
        missingAfter: () => 0,
        again: () => Promise.resolve(true),
      } as unknown as LogFeedParts['points'],
      router,
      clock: new TestClock(),
      log: () => undefined,
      savedSequence: () => 5000,
    },
    {
      id: 't',
      unit: 't',
      task: {
        taskId: 't',
        error: undefined,
        ready: () => undefined,
        processed: () => undefined,
        push: ({ record }: PointBatch) => void pushed.push(record),
        advanceTo: () => undefined,
        goLive: () => undefined,
        onError: () => undefined,
      },
    } as unknown as Unit,
    { from: FROM, dbrps: [{ db: 'd', rp: 'r' }], gaveUp: () => undefined },
  );

  await turns();
  await router.dispatch(batchOf(1));
  await router.dispatch(batchOf(2));

  expect(pushed).toEqual([1, 2]);
  await feed.close();
});

function batchOf(record: number): PointBatch {
  const builder = new PointBatchBuilder('d', 'r');
  builder.add({ name: 'm', tags: [], fields: [['v', 1]], time: BigInt(record) });
  return { ...builder.build(), record };
}
