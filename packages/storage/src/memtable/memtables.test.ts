// The memory count of rows: every way into and out of memtables changes it.
import { expect, test } from 'vitest';

import { RowBlock } from '../columns/row-block.ts';
import { Deletion } from './deletion.ts';
import { Memtables } from './memtables.ts';
import { runStarts } from './row-runs.ts';

const index = { ordinalOf: (series: number) => series };
const ALL = { start: -(2n ** 63n), end: 2n ** 63n - 1n };

/** One row of each of these series, at the time that is its number. */
function append(tables: Memtables, shardId: number, series: readonly number[]): void {
  const times = BigInt64Array.from(series, BigInt);
  const bounds = { min: times[0]!, max: times.at(-1)! };
  const block = RowBlock.adopt(1, Uint32Array.from(series), times, bounds);
  block.setColumn('f', { type: 'float', values: Float64Array.from(series), valid: undefined });
  const starts = runStarts(block.series, block.rows);
  tables.append(shardId, block, { index, starts, nowMs: 10 * shardId });
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

test('deletes and drops lower the count of bytes, down to nothing', () => {
  const tables = new Memtables(1 << 20);
  append(tables, 1, numbers(1000));
  append(tables, 2, numbers(1000));
  const both = tables.bytes;
  expect(both).toBeGreaterThan(2 * 1000 * 16);

  const halfOfSeries = Uint32Array.from(numbers(500));
  tables.delete(1, new Deletion(ALL, [{ measurementId: 1, series: halfOfSeries }]));
  expect(tables.bytes).toBeLessThan(both);
  expect(numbers(1000).filter((id) => tables.hasSeries(1, 1, id))).toEqual(
    numbers(1000).slice(500),
  );

  tables.delete(1, new Deletion(ALL, [{ measurementId: 1, series: undefined }]));
  tables.drop(2);
  expect(tables.bytes).toBe(0);
  expect(tables.tablesOf(2)).toEqual([]);
  expect(tables.ages(100)).toBeUndefined();
});

test('a delete leaves the tables that a flush was given, and those that are read, as they are', () => {
  const tables = new Memtables(1 << 20);
  append(tables, 1, [1, 2, 3]);
  const flushed = tables.freeze().get(1);
  append(tables, 1, [4]);
  const before = tables.bytes;

  tables.delete(1, new Deletion(ALL, [{ measurementId: 1, series: Uint32Array.of(2, 4) }]));

  expect(flushed?.get(1)?.rows).toBe(3);
  expect([1, 2, 3, 4].filter((id) => tables.hasSeries(1, 1, id))).toEqual([1, 3]);
  // Frozen tables are not counted: the flush lets go of them.
  expect(before).toBeGreaterThan(0);
  expect(tables.bytes).toBe(0);
  expect(tables.hasFrozen(1)).toBe(true);
  tables.flushed(1);
  expect(tables.tablesOf(1).map((each) => each.size)).toEqual([0]);
});

test('ages are those of active rows, and the last write outlives them', () => {
  const tables = new Memtables(1 << 20);
  append(tables, 1, [1]);
  append(tables, 3, [1]);
  expect(tables.ages(100)).toEqual({ oldestMs: 90, newestMs: 70 });

  tables.freeze();

  expect(tables.ages(100)).toBeUndefined();
  expect([1, 2, 3].map((id) => tables.lastWriteMs(id))).toEqual([10, 0, 30]);
});

test('a write is held back while a flush runs and the tables are over their limit', async () => {
  const tables = new Memtables(1);
  append(tables, 1, [1]);
  expect(tables.enter(0)).toBeUndefined();

  tables.flushing(0);
  const held = tables.enter(0);
  expect(held).toBeInstanceOf(Promise);
  tables.drop(1);
  tables.flushing(0.5);
  await held;
  tables.flushEnded();
});
