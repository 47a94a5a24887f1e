// Delivery: order, retries, persistence, dead letters.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { InvalidRequest, Unavailable } from '@tidemark/core';
import { TestClock } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AlertStore } from './alert-store.ts';
import type { OutboxEntry } from './alert-store.ts';
import { Delivery } from './delivery.ts';
import type { ChainStep, DeliveryOptions } from './delivery.ts';
import type { TopicEvent } from './event.ts';
import { lmdbEntries } from './testing/lmdb-entries.ts';

function event(id: string, message = id): TopicEvent {
  return {
    id,
    message,
    details: '',
    time: 1n,
    durationNanos: 0n,
    level: 'CRITICAL',
    previousLevel: 'OK',
    isRecoverable: true,
    data: [{ name: 'm', columns: ['time', 'v'], values: [[1n, 9007199254740993n]] }],
    topic: 't',
    hops: 0,
    context: { name: 'm', taskName: 'task', group: '', category: '', tags: {}, fields: {} },
  };
}

let directory: string;
let root: RootDatabase;
let store: AlertStore;
let clock: TestClock;
let reports: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'delivery-'));
  root = open({
    path: join(directory, 'a.mdb'),
    noSubdir: true,
    maxDbs: 8,
    overlappingSync: false,
  });
  clock = new TestClock(1_000_000_000_000n);
  store = new AlertStore(lmdbEntries(root), { clock, log: () => undefined });
  reports = [];
});

afterEach(async () => {
  await root.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Collects an event for one handler, as the service does. */
function send(delivery: Delivery, sent: TopicEvent): void {
  const handlerKeys = [delivery.handlerKey];
  const { entries, stored } = store.collect({
    topic: 't',
    event: sent,
    isPersistent: false,
    handlerKeys,
  });
  for (const entry of entries) delivery.accept(entry, stored);
}

function waiting(): readonly OutboxEntry[] {
  return store.waiting('t h', 0, 1000);
}

function deliver(
  steps: readonly ChainStep[],
  queueLength = 100,
  more: Pick<DeliveryOptions, 'predecessor' | 'mayDeliver'> = {},
): Delivery {
  const report = (level: string, message: string): void => {
    reports.push(`${level}: ${message}`);
  };
  return new Delivery(
    { handlerKey: 't h', store, clock, queueLength, report, random: () => 0.5, ...more },
    () => steps,
  );
}

/** Lets everything that is ready run, and be on disk. */
async function settle(): Promise<void> {
  await store.stored;
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}

function recorder(fail?: (message: string, attempt: number) => Error | undefined): {
  step: ChainStep;
  sent: string[];
} {
  const sent: string[] = [];
  const attempts = new Map<string, number>();
  return {
    sent,
    step: {
      run: ({ event: { message } }) => {
        const attempt = (attempts.get(message) ?? 0) + 1;
        attempts.set(message, attempt);
        const error = fail?.(message, attempt);
        if (error !== undefined) return Promise.reject(error);
        sent.push(message);
        return Promise.resolve({ kind: 'pass' });
      },
    },
  };
}

describe('delivery', () => {
  test('events are sent in order and leave the outbox', async () => {
    const { step, sent } = recorder();
    const delivery = deliver([step]);

    for (const id of ['a', 'b', 'c']) send(delivery, event(id));
    await settle();
    await store.stored;

    expect(sent).toEqual(['a', 'b', 'c']);
    expect(waiting()).toEqual([]);
    expect(delivery.state).toMatchObject({ delivered: 3, failed: 0, waiting: 0 });
  });

  test('while one id is repeated, others go on and later events of that id wait behind it', async () => {
    const { step, sent } = recorder((message, attempt) =>
      message === 'a1' && attempt === 1 ? new Unavailable('away') : undefined,
    );
    const delivery = deliver([step]);

    send(delivery, event('a', 'a1'));
    send(delivery, event('a', 'a2'));
    send(delivery, event('b', 'b1'));
    await settle();
    expect(sent).toEqual(['b1']);

    clock.advance(1_000);
    await settle();
    expect(sent).toEqual(['b1', 'a1', 'a2']);
    expect(reports).toEqual(['warn: failed to send event, will be repeated: away']);
  });

  test('as many ids as one likes may wait for a retry without a warning of the platform', async () => {
    const warnings: string[] = [];
    const listen = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', listen);
    const { step, sent } = recorder((_message, attempt) =>
      attempt === 1 ? new Unavailable('away') : undefined,
    );
    const delivery = deliver([step]);
    const ids = Array.from({ length: 50 }, (_, i) => `id${i}`);

    for (const id of ids) send(delivery, event(id));
    await settle();
    expect(delivery.state.waiting).toBe(50);
    clock.advance(1_000);
    await settle();
    process.off('warning', listen);

    expect(warnings).toEqual([]);
    expect(sent.toSorted()).toEqual(ids.toSorted());
  });

  test('closing ends every wait for a retry and keeps its event', async () => {
    const { step, sent } = recorder(() => new Unavailable('away'));
    const delivery = deliver([step]);
    for (const id of ['a', 'b']) send(delivery, event(id));
    await settle();

    await delivery.close(0);
    clock.advance(10_000);
    await settle();

    expect(delivery.state.waiting).toBe(0);
    expect(waiting().map(({ event: { id } }) => id)).toEqual(['a', 'b']);
    expect(sent).toEqual([]);
  });

  test('delays between attempts grow', async () => {
    const attempts: bigint[] = [];
    const delivery = deliver([
      {
        run: () => {
          attempts.push(clock.now() / 1_000_000_000n);
          return Promise.reject(new Unavailable('away'));
        },
      },
    ]);
    send(delivery, event('a'));

    for (let second = 0; second < 20; second++) {
      await settle();
      clock.advance(1_000);
    }

    expect(attempts.map((at) => at - 1_000n)).toEqual([0n, 1n, 3n, 7n, 15n]);
    await delivery.close(0);
  });

  test('one that may not deliver is asked before each attempt, and keeps what it has', async () => {
    let isLeading = true;
    const { step, sent } = recorder((_, attempt) => {
      // Its lease ends while the answer is on its way.
      isLeading = false;
      return attempt === 1 ? new Unavailable('away') : undefined;
    });
    const delivery = deliver([step], 100, { mayDeliver: () => isLeading });
    send(delivery, event('a'));
    send(delivery, event('b'));
    for (let second = 0; second < 20; second++) {
      await settle();
      clock.advance(1_000);
    }

    expect(sent).toEqual([]);
    expect(waiting().map(({ event: { id } }) => id)).toEqual(['a', 'b']);
    expect(reports.at(-1)).toContain('this instance does not lead the cluster any more');
    await delivery.close(0);

    const next = recorder();
    const successor = deliver([next.step], 100, { mayDeliver: () => true });
    await settle();
    expect(next.sent).toEqual(['a', 'b']);
    await successor.close(0);
  });

  test('a refusal is not repeated but kept as a dead letter with its reason', async () => {
    const { step, sent } = recorder(() => new InvalidRequest('no such channel'));
    const delivery = deliver([step]);

    send(delivery, event('a'));
    await settle();
    await store.stored;

    expect(sent).toEqual([]);
    expect(waiting()).toEqual([]);
    expect([...store.deadLetters()].map(({ event: { id }, reason }) => [id, reason])).toEqual([
      ['a', 'no such channel'],
    ]);
    expect(delivery.state.lastError).toBe('no such channel');
  });

  test('the next run delivers events that were undelivered at the end', async () => {
    const failing = recorder(() => new Unavailable('away'));
    const first = deliver([failing.step]);
    send(first, event('a', 'one'));
    send(first, event('a', 'two'));
    await settle();
    await first.close(0);
    await store.stored;

    const { step, sent } = recorder();
    deliver([step]);
    await settle();

    expect(sent).toEqual(['one', 'two']);
  });

  test('integers of an event keep all their digits in the outbox', async () => {
    const first = deliver([recorder(() => new Unavailable('away')).step]);
    send(first, event('a'));
    await settle();
    await first.close(0);
    await store.stored;

    const [entry] = waiting();

    expect(entry?.event.data[0]?.values).toEqual([[1n, 9007199254740993n]]);
  });

  test('events that do not fit into memory are read back from disk, in order', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { step, sent } = recorder();
    const gated: ChainStep = { run: (entry, signal) => gate.then(() => step.run(entry, signal)) };
    const delivery = deliver([gated], 2);
    const ids = Array.from({ length: 50 }, (_, i) => `e${i}`);

    for (const id of ids) send(delivery, event(id));
    await settle();
    expect(delivery.state.waiting).toBeGreaterThan(40);
    release();
    await delivery.drained();
    await store.stored;

    expect(sent).toEqual(ids);
    expect(waiting()).toEqual([]);
    expect(delivery.state).toMatchObject({ delivered: 50, refused: 0, waiting: 0 });
  });

  test('an event is sent only after it is on disk', async () => {
    const onDisk: number[] = [];
    const delivery = deliver([
      {
        run: () => {
          onDisk.push(waiting().length);
          return Promise.resolve({ kind: 'pass' });
        },
      },
    ]);

    send(delivery, event('a'));
    await settle();

    expect(onDisk).toEqual([1]);
  });

  test('an event that cannot be kept is sent nevertheless, and that is said', async () => {
    const { step, sent } = recorder();
    const delivery = deliver([step]);
    const [entry] = store.collect({
      topic: 't',
      event: event('a'),
      isPersistent: false,
      handlerKeys: [delivery.handlerKey],
    }).entries;

    delivery.accept(entry!, Promise.reject(new Unavailable('no space left')));
    await settle();
    await delivery.drained();

    expect(sent).toEqual(['a']);
    expect(reports).toEqual(['error: failed to write the outbox: no space left']);
    expect(delivery.state.lastError).toBe('failed to write the outbox: no space left');
  });

  test('a successor waits until its predecessor has let go and then delivers the rest first', async () => {
    const failing = recorder(() => new Unavailable('away'));
    const first = deliver([failing.step]);
    send(first, event('a', 'old'));
    await settle();

    const { step, sent } = recorder();
    const predecessor = first.close(0);
    const second = deliver([step], 100, { predecessor });
    send(second, event('a', 'new'));
    await predecessor;
    await settle();
    await second.drained();
    await store.stored;

    expect(sent).toEqual(['old', 'new']);
    expect(waiting()).toEqual([]);
  });

  test('actions of a chain that are done are not repeated after a restart', async () => {
    const done = recorder();
    const failing = recorder(() => new Unavailable('away'));
    const first = deliver([done.step, failing.step]);
    send(first, event('a'));
    await settle();
    await first.close(0);

    const working = recorder();
    const second = deliver([done.step, working.step]);
    await settle();
    await second.drained();
    await store.stored;

    expect(done.sent).toEqual(['a']);
    expect(working.sent).toEqual(['a']);
  });

  test('a failing step is repeated alone, earlier steps of the chain are not', async () => {
    const first = recorder();
    const second = recorder((_message, attempt) =>
      attempt === 1 ? new Unavailable('away') : undefined,
    );
    const delivery = deliver([first.step, second.step]);

    send(delivery, event('a'));
    await settle();
    clock.advance(1_000);
    await settle();

    expect(first.sent).toEqual(['a']);
    expect(second.sent).toEqual(['a']);
  });

  test('an action that hangs is ended after the limit and repeated', async () => {
    let runs = 0;
    const delivery = deliver([
      {
        run: () => {
          runs++;
          return runs === 1
            ? new Promise(() => undefined)
            : Promise.resolve({ kind: 'pass' } as const);
        },
      },
    ]);
    send(delivery, event('a'));
    await settle();

    clock.advance(30_000);
    await settle();
    clock.advance(1_000);
    await settle();

    expect(runs).toBe(2);
    expect(delivery.state.delivered).toBe(1);
  });
});
