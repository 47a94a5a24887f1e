import { Unavailable } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { beforeEach, expect, test } from 'vitest';
import type { ListenerSink } from './batcher.ts';
import type { ListenerPoint } from './listener-point.ts';
import { PointSources } from './point-sources.ts';
import type { Intake, OpenSource } from './point-sources.ts';

type Written = Awaited<ReturnType<ListenerSink['writePoints']>>;

let stored: string[][];
/** How the next writes end; those after them succeed. */
let ends: ((count: number) => Promise<Written>)[];
let rejected: unknown[];
let clock: TestClock;
let sources: PointSources;

beforeEach(() => {
  stored = [];
  ends = [];
  rejected = [];
  clock = new TestClock();
  sources = new PointSources({
    writer: {
      writePoints: async (_target, points) => {
        const end = ends.shift();
        const outcome = (await end?.(points.length)) ?? { pointsWritten: points.length };
        stored.push(points.map(({ measurement }) => measurement));
        return outcome;
      },
    },
    clock,
    log: { info: () => undefined, warn: () => undefined },
    prepare: () => Promise.resolve(),
    onRejected: ({ source }, inputs) => {
      for (const { text, reason, count } of inputs) rejected.push([source, text, reason, count]);
    },
  });
});

const point = (measurement: string): ListenerPoint => ({
  measurement,
  tags: [],
  fields: [['v', 1]],
  time: 1n,
});

async function opened(batch: { readonly size: number; readonly pending: number }): Promise<Intake> {
  let given: Intake | undefined;
  await sources.open(
    'queue',
    {
      database: 'd',
      retentionPolicy: '',
      batchSize: batch.size,
      batchPending: batch.pending,
      batchTimeoutMs: 1000,
    },
    (intake) => {
      given = intake;
      return Promise.resolve({ address: 'queue:1', close: () => Promise.resolve() });
    },
  );
  if (given === undefined) throw new Error('the source was not started');
  return given;
}

const refusing = (): Promise<never> => Promise.reject(new Unavailable('the disk is full'));

test('points that are added one by one share the outcome of their batch', async () => {
  const { batcher } = await opened({ size: 2, pending: 10 });
  ends.push(refusing, (count) =>
    Promise.resolve({ pointsWritten: count - 1, dropped: { count: 1, reason: 'too old' } }),
  );

  const outcomes = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => batcher.add([point(name)])),
  );

  expect(outcomes.map(({ kind }) => kind)).toEqual(['failed', 'failed', 'refused', 'refused']);
  expect(outcomes[2]).toEqual({ kind: 'refused', count: 1, reason: 'too old' });
  expect(sources.statistics()).toMatchObject([
    { bind: 'queue:1', counters: { pointsRx: 4, pointsTx: 1, pointsDropped: 3, batchesTxFail: 1 } },
  ]);
  expect(rejected).toEqual([
    ['queue', '', 'the disk is full', 2],
    ['queue', '', 'too old', 1],
  ]);
});

test('a batch that is not full is written after a time, or when the sources close', async () => {
  const { batcher } = await opened({ size: 10, pending: 10 });

  const first = batcher.add([point('a')]);
  await clock.advance(1000);
  expect(await first).toEqual({ kind: 'stored' });

  const last = batcher.add([point('b')]);
  await sources.close();
  expect(await last).toEqual({ kind: 'stored' });
  expect(stored).toEqual([['a'], ['b']]);
});

test('points beyond the batches that may wait fail, and are counted', async () => {
  const { batcher } = await opened({ size: 1, pending: 1 });
  let finish = (): void => undefined;
  ends.push(
    (count) => new Promise((resolve) => (finish = () => resolve({ pointsWritten: count }))),
  );

  const first = batcher.add([point('a')]);
  const [added, written] = await Promise.all([
    batcher.add([point('b')]),
    batcher.write([point('c'), point('d')]),
  ]);
  finish();

  expect(added).toEqual({
    kind: 'failed',
    error: new Unavailable('too many batches wait for storage'),
  });
  expect(written.kind).toBe('failed');
  expect(await first).toEqual({ kind: 'stored' });
  expect(batcher.counters).toMatchObject({ pointsRx: 4, pointsTx: 1, pointsDropped: 3 });
});

test('points that are written by themselves come after those before them, with their own outcome', async () => {
  const { batcher } = await opened({ size: 10, pending: 10 });
  ends.push(refusing);

  const added = batcher.add([point('a')]);
  const written = batcher.write([point('b'), point('c')]);

  expect((await added).kind).toBe('failed');
  expect(await written).toEqual({ kind: 'stored' });
  expect(stored).toEqual([['b', 'c']]);
});

test('input that is no point is counted and reported with its sender', async () => {
  const { batcher, unreadable } = await opened({ size: 10, pending: 10 });

  unreadable('1.2.3.4', [
    { text: 'x', reason: 'no number' },
    { text: '', reason: 'bad', count: 3 },
  ]);

  expect(batcher.counters.pointsParseFail).toBe(4);
  expect(rejected).toEqual([
    ['queue:1.2.3.4', 'x', 'no number', undefined],
    ['queue:1.2.3.4', '', 'bad', 3],
  ]);
});

/** Reads messages of a queue from its committed offset; commits what is stored or refused. */
class QueueConsumer implements OpenSource {
  readonly address = 'queue:1';
  readonly #queue: { readonly messages: readonly string[][]; offset: number };
  readonly #ended: Promise<void>;
  #isClosed = false;

  constructor(queue: { readonly messages: readonly string[][]; offset: number }, intake: Intake) {
    this.#queue = queue;
    this.#ended = this.#run(intake);
  }

  async #run({ batcher }: Intake): Promise<void> {
    const queue = this.#queue;
    while (!this.#isClosed) {
      const message = queue.messages[queue.offset];
      if (message === undefined) return;
      const outcome = await batcher.write(message.map(point));
      if (outcome.kind !== 'failed') queue.offset++;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#ended;
  }
}

test('a consumer of a queue commits what is stored, and loses nothing when it is closed meanwhile', async () => {
  const queue = { messages: [['a', 'b'], ['c'], ['d'], ['e']], offset: 0 };
  const target = {
    database: 'd',
    retentionPolicy: '',
    batchSize: 10,
    batchPending: 1,
    batchTimeoutMs: 1000,
  };
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  let finish = (): void => undefined;
  ends.push(
    refusing,
    (count) => Promise.resolve({ pointsWritten: 0, dropped: { count, reason: 'too old' } }),
    refusing,
    (count) => {
      arrive();
      return new Promise((resolve) => (finish = () => resolve({ pointsWritten: count })));
    },
  );
  const consume = (intake: Intake) => Promise.resolve(new QueueConsumer(queue, intake));

  await sources.open('queue', target, consume);
  await arrived;
  expect(queue.offset).toBe(1);
  const closing = sources.close();
  finish();
  await closing;
  expect(queue.offset).toBe(2);

  const consumer = await sources.open('queue', target, consume);
  while (queue.offset < 4) await new Promise((resolve) => setImmediate(resolve));
  await consumer.close();
  expect(stored).toEqual([['a', 'b'], ['c'], ['d'], ['e']]);
});
