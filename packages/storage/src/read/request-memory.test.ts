import { LimitExceeded } from '@tidemark/core';
import { eachBatch } from '@tidemark/query';
import { afterEach, expect, test, vi } from 'vitest';

import { threadHeap } from '../columns/thread-heap.ts';
import { testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import { MemoryTotal, RequestMemory } from './request-memory.ts';

let storage: TestEngine | undefined;
afterEach(() => storage?.dispose());

const EACH_SERIES = {
  source: { database: 'db', retentionPolicy: 'autogen', measurement: 'm' },
  timeRange: { start: 0n, end: 10n },
  descending: false,
  groupBy: 'all',
  fields: [{ name: 'v', type: 'float' }],
} as const;

test('requests are counted together, each against its own limit', () => {
  const total = new MemoryTotal();
  const first = new RequestMemory(80, total);
  const second = new RequestMemory(80, total);

  first.hold(40, 'groups');
  first.check(30, 'order');
  first.check(20, 'order');
  second.hold(40, 'groups');
  expect(total.heldBytes).toBe(110);
  expect(() => first.hold(50, 'groups')).toThrow(LimitExceeded);
  expect(() => first.check(50, 'order')).toThrow(
    /order need more memory.*setting=`coordinator.query-memory-limit`/,
  );

  first.end();
  first.end();
  expect(total.heldBytes).toBe(40);
});

test('behind a request that held much the heap of the thread is released', async () => {
  const release = vi.spyOn(threadHeap, 'release');
  for (const mebibytes of [1, 40]) {
    const memory = new RequestMemory(undefined, new MemoryTotal());
    memory.hold(mebibytes << 20, 'texts');
    memory.end();
    memory.end();
  }
  expect(release).not.toHaveBeenCalled();
  await new Promise((resolve) => setImmediate(resolve));
  expect(release).toHaveBeenCalledTimes(1);
});

test('a request that holds more than it was granted waits, and ends when it is refused', async () => {
  storage = await testEngine();
  const lines = Array.from({ length: 1000 }, (_, i) => `m,t=${i} v=1 1\n`);
  await write(storage.engine, lines.join(''));
  const asked: number[] = [];
  let released = 0;
  let admit = (): void => undefined;
  const admitted = new Promise<void>((resolve) => {
    admit = resolve;
  });
  const memory = {
    openSource: () => ({
      grantedBytes: 1000,
      ask(sizeBytes: number) {
        asked.push(sizeBytes);
        this.grantedBytes = sizeBytes;
        return asked.length === 1 ? admitted : Promise.reject(new LimitExceeded('no', 'x'));
      },
      release: () => released++,
    }),
  };
  const snapshot = storage.engine.source.snapshot();
  const { signal } = new AbortController();
  const read = async (): Promise<number> => {
    let batches = 0;
    for await (const _ of eachBatch(snapshot.scan(EACH_SERIES, { signal, memory }))) batches++;
    return batches;
  };
  let isRead = false;
  const first = read().then((batches) => {
    isRead = true;
    return batches;
  });
  await vi.waitFor(() => expect(asked.length).toBe(1), 20_000);
  expect([isRead, released]).toEqual([false, 0]);

  admit();
  await expect(first).rejects.toThrow('no');
  expect([asked.length, asked[1]! > asked[0]!, released]).toEqual([2, true, 1]);
  expect((await storage.engine.statistics()).counters['requestMemoryBytes']).toBe(0);
  snapshot.close();
});

test('a request releases its memory at its end, and when its reader leaves', async () => {
  storage = await testEngine();
  const lines = Array.from({ length: 1000 }, (_, i) => `m,t=${i} v=1 1\n`);
  await write(storage.engine, lines.join(''));
  const held = async (): Promise<unknown> =>
    (await storage?.engine.statistics())?.counters['requestMemoryBytes'];
  const snapshot = storage.engine.source.snapshot();
  const { signal } = new AbortController();

  for await (const _ of eachBatch(snapshot.scan(EACH_SERIES, { signal }))) {
    expect(await held()).toBeGreaterThan(1000);
    break;
  }
  expect(await held()).toBe(0);
  const hold = vi.spyOn(threadHeap, 'hold');
  const letGo = vi.spyOn(threadHeap, 'letGo');
  for await (const _ of eachBatch(snapshot.scan(EACH_SERIES, { signal }))) expect(_).toBeDefined();
  expect(await held()).toBe(0);
  // The heap of the thread knows the same.
  const sum = (calls: readonly [number][]): number => calls.reduce((all, [one]) => all + one, 0);
  expect(sum(hold.mock.calls)).toBeGreaterThan(1000);
  expect(sum(letGo.mock.calls)).toBe(sum(hold.mock.calls));
  snapshot.close();
});
