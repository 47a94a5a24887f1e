// What a task is told while it is given what it has missed, and its thread fails meanwhile.
import { PointBatchBuilder } from '@tidemark/runtime';
import type { PointBatch } from '@tidemark/runtime';
import { TestClock } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { PointRouter } from '../ingest/point-router.ts';
import type { Resumption } from '../tasks/task-source.ts';
import type { Unit } from '../tasks/unit.ts';
import { LogFeed } from './log-feed.ts';
import type { LogFeedParts } from './log-feed.ts';
import type { Rereading } from './point-rereader.ts';

const FROM: Resumption = {
  position: { time: 0n, begun: 0n, series: [] } as unknown as Resumption['position'],
  rerun: { now: 0n, since: 0n, begun: 0n },
};

test('a task that is started again while it catches up goes live once, at the end of what it is given again', async () => {
  const told: string[] = [];
  let reread: Rereading | undefined;
  let goOn = (): void => undefined;
  const batch = batchOf(5);
  const points = {
    dispatched: 7,
    last: 7,
    again: (rereading: Rereading) => {
      reread = rereading;
      return new Promise<void>((resolve) => (goOn = resolve));
    },
  } as unknown as LogFeedParts['points'];
  const task = {
    taskId: 't',
    error: undefined,
    ready: () => undefined,
    processed: () => undefined,
    push: () => void told.push('push'),
    pushDue: () => void told.push('push in virtual time'),
    advanceTo: () => void told.push('advance'),
    goLive: () => void told.push('live'),
    onError: () => undefined,
  };
  const feed = new LogFeed(
    {
      points,
      router: new PointRouter(),
      clock: new TestClock(),
      log: () => undefined,
      savedSequence: () => 6,
    },
    { id: 't', unit: 't', task } as unknown as Unit,
    { from: FROM, dbrps: [{ db: 'd', rp: 'r' }], gaveUp: () => undefined },
  );

  // Its thread fails, the others are done, and it runs again.
  feed.suspend();
  await feed.caughtUp();
  feed.resume(FROM);
  await feed.caughtUp();

  expect(told).toEqual([]);

  await Promise.resolve();
  reread?.give(batch);
  goOn();
  await feed.settle();

  expect(told).toEqual(['push in virtual time', 'advance', 'live']);
  await feed.close();
});

test('a log that has begun anew is given from its first record on, whatever the state says', async () => {
  const pushed: (number | undefined)[] = [];
  const router = new PointRouter();
  const feed = new LogFeed(
    {
      points: { dispatched: 0, last: 0 } as unknown as LogFeedParts['points'],
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
        pushDue: ({ record }: PointBatch) => void pushed.push(record),
        onError: () => undefined,
      },
    } as unknown as Unit,
    { from: FROM, dbrps: [{ db: 'd', rp: 'r' }], gaveUp: () => undefined },
  );

  await router.dispatch({ ...batchOf(0), record: 1 });
  await router.dispatch({ ...batchOf(0), record: 2 });

  expect(pushed).toEqual([1, 2]);
  await feed.close();
});

function batchOf(time: number): PointBatch {
  const builder = new PointBatchBuilder('d', 'r');
  builder.add({ name: 'm', tags: [], fields: [['v', 1]], time: BigInt(time) });
  return { ...builder.build(), record: 7 };
}
