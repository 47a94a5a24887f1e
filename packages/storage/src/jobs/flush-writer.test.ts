// Flushes pause within a portion: a series may have any number of rows, and a measurement any
// number of fields.
import { expect, test } from 'vitest';

import { memoryDisk } from '../disk/memory-disk.ts';
import { RowBlock } from '../columns/row-block.ts';
import { Table } from '../memtable/table.ts';
import { finish } from '../schedule/steps.ts';
import { MAX_CHUNK_ROWS } from '../segment/format.ts';
import { SegmentWriter } from '../segment/writer.ts';
import { SeriesIndex } from '../series/series-index.ts';
import { writeTables } from './flush-writer.ts';
import { Pacer } from '../schedule/pacer.ts';
import { Turns } from '../schedule/turns.ts';

const FIELDS = 5;
const CHUNKS = 12;
const ROWS = MAX_CHUNK_ROWS * CHUNKS;

/**
 * A pacer whose slices are over whenever it looks, and how often it has given way; it may be told
 * to end then.
 */
function hurried(endsAt = Infinity): { readonly pacer: Pacer; readonly turns: () => number } {
  const abort = new AbortController();
  let nowMs = 0;
  let taken = 0;
  const clock = { now: () => 0n, monotonicMs: () => nowMs++, sleep: () => Promise.resolve() };
  const turns = new Turns({
    clock,
    sliceMs: 0.5,
    nextRound: (run) => {
      if (++taken === endsAt) abort.abort(new Error('enough'));
      setImmediate(run);
    },
  });
  return { pacer: new Pacer(turns, { work: 'flush', signal: abort.signal }), turns: () => taken };
}

/** One series of many rows, and some of few. */
function tableOf(index: SeriesIndex): Table {
  const measurement = index.addMeasurement('m');
  const series = ['long', 'short', 'brief'].map((host) =>
    index.addSeries(measurement, [['host', host]]),
  );
  const table = new Table(measurement.id, index);
  const rowsOf = [ROWS, 20, 1];
  series.forEach((id, i) => {
    const count = rowsOf[i]!;
    const times = BigInt64Array.from({ length: count }, (_, row) => BigInt(row));
    const ids = new Uint32Array(count).fill(id);
    const block = RowBlock.adopt(measurement.id, ids, times, { min: 0n, max: BigInt(count - 1) });
    for (let field = 0; field < FIELDS; field++) {
      const values = Float64Array.from({ length: count }, (_, row) => row + field);
      block.setColumn(`f${field}`, { type: 'float', values, valid: undefined });
    }
    table.append(block);
  });
  return table;
}

test('a flush may pause behind every field and every chunk of a long series', async () => {
  const index = new SeriesIndex('db');
  const table = tableOf(index);
  const { pacer, turns } = hurried();
  const target = { disk: memoryDisk(), path: '/segment', shardId: 1 };
  let rows = 0;

  await writeTables(new Map([[table.measurementId, table]]), index, {
    target,
    pacer,
    onRows: (count) => (rows += count),
  });

  expect(rows).toBe(ROWS + 21);
  expect(turns()).toBeGreaterThanOrEqual(CHUNKS + 2 * FIELDS);
});

test('a flush that is told to end is left in the midst of a series, and its file is gone', async () => {
  const index = new SeriesIndex('db');
  const table = tableOf(index);
  const { pacer, turns } = hurried(FIELDS + CHUNKS / 2);
  const disk = memoryDisk();

  const ended = writeTables(new Map([[table.measurementId, table]]), index, {
    target: { disk, path: '/segment', shardId: 1 },
    pacer,
    onRows: () => undefined,
  });

  await expect(ended).rejects.toThrow('enough');
  expect(turns()).toBe(FIELDS + CHUNKS / 2);
  expect(disk.exists('/segment')).toBe(false);
});

test('a run is written chunk by chunk', () => {
  const writer = new SegmentWriter(memoryDisk(), '/segment', 1);
  writer.beginMeasurement(0, [{ name: 'f', type: 'float' }]);
  const times = BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(row));
  const values = Float64Array.from(times, Number);
  const steps = writer.addRunInSteps({
    times,
    columns: [{ type: 'float', values, valid: undefined }],
  });
  let count = 0;
  while (steps.next().done !== true) count++;
  writer.endSeries(0);

  expect(count).toBe(CHUNKS);
  expect(() => finish(writer.addRunInSteps({ times, columns: [] }))).not.toThrow();
});
