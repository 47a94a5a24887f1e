import { LimitExceeded } from '@tidemark/core';
import { eachBatch } from '@tidemark/query';
import { afterEach, expect, test, vi } from 'vitest';

import { threadHeap } from '../columns/thread-heap.ts';
import { testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import { MemoryTotal, RequestMemory } from './request-memory.ts';

let storage: TestEngine | undefined;
afterEach(() => storage?.dispose());

test('requests hold no more together than the total, whatever each may hold', () => {
  const total = new MemoryTotal(100);
  const first = new RequestMemory(80, total);
  const second = new RequestMemory(80, total);

  first.hold(40, 'groups');
  first.check(30, 'order');
  first.check(20, 'order');
  expect(total.heldBytes).toBe(70);
  expect(() => first.hold(50, 'groups')).toThrow('setting=`coordinator.query-memory-limit`');
  expect(() => second.hold(40, 'groups')).toThrow(LimitExceeded);
  expect(() => second.check(40, 'order')).toThrow('order need more memory');
  expect(() => second.hold(40, 'groups')).toThrow(
    /all queries together.*setting=`coordinator.total-query-memory-limit`/,
  );

  first.end();
  first.end();
  second.hold(40, 'groups');
  expect(total.heldBytes).toBe(40);
});

test('a request releases its memory at its end, and when its reader leaves', async () => {
  storage = await testEngine();
  const lines = Array.from({ length: 1000 }, (_, i) => `m,t=${i} v=1 1\n`);
  await write(storage.engine, lines.join(''));
  const held = async (): Promise<unknown> =>
    (await storage?.engine.statistics())?.counters['requestMemoryBytes'];
  const snapshot = storage.engine.source.snapshot();
  const request = {
    source: { database: 'db', retentionPolicy: 'autogen', measurement: 'm' },
    timeRange: { start: 0n, end: 10n },
    descending: false,
    groupBy: 'all',
    fields: [{ name: 'v', type: 'float' }],
  } as const;
  const { signal } = new AbortController();

  for await (const _ of eachBatch(snapshot.scan(request, { signal }))) {
    expect(await held()).toBeGreaterThan(1000);
    break;
  }
  expect(await held()).toBe(0);
  const hold = vi.spyOn(threadHeap, 'hold');
  const letGo = vi.spyOn(threadHeap, 'letGo');
  for await (const _ of eachBatch(snapshot.scan(request, { signal }))) expect(_).toBeDefined();
  expect(await held()).toBe(0);
  // The heap of the thread knows the same.
  const sum = (calls: readonly [number][]): number => calls.reduce((all, [one]) => all + one, 0);
  expect(sum(hold.mock.calls)).toBeGreaterThan(1000);
  expect(sum(letGo.mock.calls)).toBe(sum(hold.mock.calls));
  snapshot.close();
});
