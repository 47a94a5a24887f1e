// Linear memory never shrinks, so an instance that one large request has grown is dropped behind
// it.
import { columnValue } from '@tidemark/core';
import { eachBatch } from '@tidemark/query';
import { afterEach, expect, test } from 'vitest';

import { LIMITS } from '../limits.ts';
import { testEngine, write } from '../testing/fixtures.ts';
import type { TestEngine } from '../testing/fixtures.ts';
import { ReadKernels } from './read-kernels.ts';

let storage: TestEngine;
afterEach(() => storage.dispose());

const ROWS = 400_000;
const CACHE_BYTES = 1 << 20;
const LIMIT = LIMITS.requestLinearBytes.value;

/** Sums of windows of so many nanoseconds. */
async function* sums(everyNanos: bigint): AsyncGenerator<unknown> {
  const snapshot = storage.engine.source.snapshot();
  const request = {
    sources: [{ database: 'db', retentionPolicy: 'autogen', measurement: 'm' }],
    timeRange: { start: 0n, end: BigInt(ROWS) - 1n },
    descending: false,
    aggregates: [{ field: 'v', type: 'float', functions: ['sum'] }],
    groupBy: [],
    window: { everyNanos, offsetNanos: 0n },
  } as const;
  const { signal } = new AbortController();
  try {
    for await (const batch of eachBatch(snapshot.aggregate(request, { signal }))) {
      const sum = batch.fields[0]![0]!.values;
      for (let i = 0; i < batch.windowStarts.length; i++) yield columnValue(sum, i);
    }
  } finally {
    snapshot.close();
  }
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const result: T[] = [];
  for await (const value of values) result.push(value);
  return result;
}

test('linear memory that a request has grown is dropped when no request uses it', async () => {
  const kernels = new ReadKernels(CACHE_BYTES);
  storage = await testEngine({}, { kernels });
  const lines = Array.from({ length: ROWS }, (_, i) => `m v=${i} ${i}`);
  await write(storage.engine, lines.join('\n'));
  await storage.engine.flush();
  const before = await all(sums(1000n));
  const { columns } = kernels;
  expect(await all(sums(1000n))).toEqual(before);
  // Small requests leave the cache as it is.
  expect(kernels.columns).toBe(columns);

  // A reader that stays in the middle of its answer keeps the memory that it uses.
  const reader = sums(1000n);
  const first = await reader.next();
  expect(await all(sums(1n))).toHaveLength(ROWS);
  expect(kernels.memoryBytes).toBeGreaterThan(CACHE_BYTES + LIMIT);
  const rest = await all(reader);
  expect([first.value, ...rest]).toEqual(before);

  expect(kernels.memoryBytes).toBe(0);
  // Columns are read into the new memory, not looked for at their old addresses.
  expect(await all(sums(1000n))).toEqual(before);
  expect(kernels.columns).not.toBe(columns);
});
