// Delivery: order, repetition, what survives, what is given up.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { InvalidRequest, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AlertStore } from './alert-store.ts';
import { Delivery } from './delivery.ts';
import type { ChainStep } from './delivery.ts';
import type { TopicEvent } from './event.ts';

/** A clock whose sleepers wake only when the test moves it. */
class FakeClock implements Clock {
  #nowMs = 1_000_000;
  readonly #sleepers: { at: number; wake: () => void }[] = [];

  now(): bigint {
    return BigInt(this.#nowMs) * 1_000_000n;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      this.#sleepers.push({ at: this.#nowMs + delayMs, wake: resolve });
    });
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    for (const sleeper of this.#sleepers) if (sleeper.at <= this.#nowMs) sleeper.wake();
  }
}

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
let clock: FakeClock;
let reports: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'delivery-'));
  root = open({ path: join(directory, 'a.mdb'), noSubdir: true, maxDbs: 8 });
  store = new AlertStore(root);
  clock = new FakeClock();
  reports = [];
});

afterEach(async () => {
  await root.close();
  rmSync(directory, { recursive: true, force: true });
});

function deliver(steps: readonly ChainStep[], queueLength = 100): Delivery {
  const report = (level: string, message: string): void => {
    reports.push(`${level}: ${message}`);
  };
  return new Delivery(
    { handlerKey: 't h', store, clock, queueLength, report, random: () => 0.5 },
    () => steps,
  );
}

/** Lets everything that is ready run. */
async function settle(): Promise<void> {
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

    for (const id of ['a', 'b', 'c']) delivery.accept(event(id));
    await settle();
    await store.flushed();

    expect(sent).toEqual(['a', 'b', 'c']);
    expect([...store.outbox()]).toEqual([]);
    expect(delivery.state).toMatchObject({ delivered: 3, failed: 0, waiting: 0 });
  });

  test('while one id is repeated, others go on and later events of that id wait behind it', async () => {
    const { step, sent } = recorder((message, attempt) =>
      message === 'a1' && attempt === 1 ? new Unavailable('away') : undefined,
    );
    const delivery = deliver([step]);

    delivery.accept(event('a', 'a1'));
    delivery.accept(event('a', 'a2'));
    delivery.accept(event('b', 'b1'));
    await settle();
    expect(sent).toEqual(['b1']);

    clock.advance(1_000);
    await settle();
    expect(sent).toEqual(['b1', 'a1', 'a2']);
    expect(reports).toEqual(['warn: failed to send event, will be repeated: away']);
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
    delivery.accept(event('a'));

    for (let second = 0; second < 20; second++) {
      await settle();
      clock.advance(1_000);
    }

    expect(attempts.map((at) => at - 1_000n)).toEqual([0n, 1n, 3n, 7n, 15n]);
    await delivery.close(0);
  });

  test('a refusal is not repeated but kept as a dead letter with its reason', async () => {
    const { step, sent } = recorder(() => new InvalidRequest('no such channel'));
    const delivery = deliver([step]);

    delivery.accept(event('a'));
    await settle();
    await store.flushed();

    expect(sent).toEqual([]);
    expect([...store.outbox()]).toEqual([]);
    expect(store.deadLetters(10).map(({ event: { id }, reason }) => [id, reason])).toEqual([
      ['a', 'no such channel'],
    ]);
    expect(delivery.state.lastError).toBe('no such channel');
  });

  test('what could not be delivered before the end is delivered by the next run', async () => {
    const failing = recorder(() => new Unavailable('away'));
    const first = deliver([failing.step]);
    first.accept(event('a', 'one'));
    first.accept(event('a', 'two'));
    await settle();
    await first.close(0);
    await store.flushed();

    const { step, sent } = recorder();
    const second = deliver([step]);
    second.adopt([...store.outbox()]);
    await settle();

    expect(sent).toEqual(['one', 'two']);
  });

  test('integers of an event keep all their digits in the outbox', async () => {
    const first = deliver([recorder(() => new Unavailable('away')).step]);
    first.accept(event('a'));
    await settle();
    await first.close(0);
    await store.flushed();

    const [entry] = [...store.outbox()];

    expect(entry?.event.data[0]?.values).toEqual([[1n, 9007199254740993n]]);
  });

  test('a full queue refuses events, counts and keeps them as dead letters', async () => {
    const blocked: ChainStep = { run: () => new Promise(() => undefined) };
    const delivery = deliver([blocked], 2);

    for (const id of ['a', 'b', 'c', 'd']) delivery.accept(event(id));
    await settle();
    await store.flushed();

    expect(delivery.state.refused).toBeGreaterThan(0);
    expect(store.deadLetters(10).length).toBe(delivery.state.refused);
    await delivery.close(0);
  });

  test('a failing step is repeated alone, earlier steps of the chain are not', async () => {
    const first = recorder();
    const second = recorder((_message, attempt) =>
      attempt === 1 ? new Unavailable('away') : undefined,
    );
    const delivery = deliver([first.step, second.step]);

    delivery.accept(event('a'));
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
    delivery.accept(event('a'));
    await settle();

    clock.advance(30_000);
    await settle();
    clock.advance(1_000);
    await settle();

    expect(runs).toBe(2);
    expect(delivery.state.delivered).toBe(1);
  });
});
