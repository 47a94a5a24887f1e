// Converts rows of the ingest kernel to rows of a points table, one per series, time and field.
import { textAt } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import { ScratchBuffer } from '@tidemark/kernels';
import type { StagedTable } from '@tidemark/kernels';

import { columnIdOf } from '../ids.ts';
import type { LocalSeries } from './local-series.ts';
import type { PointRows } from './point-rows.ts';

const scratch = new ScratchBuffer();

export type EncodeTarget = {
  /** Ids and shards of the series of the ingest that made the table. */
  readonly series: LocalSeries;
  /** Rows by shard of the cluster. */
  readonly shards: readonly PointRows[];
  /** Called for every series before its id and shard are read. */
  readonly onSeries: (local: number) => void;
};

/** Appends every value of a table. */
export function encodePoints(table: StagedTable, target: EncodeTarget): void {
  const { seriesIds, times, columns } = table.copyRows(scratch);
  const { series, shards, onSeries } = target;
  for (let i = 0, last = -1; i < seriesIds.length; i++) {
    if (seriesIds[i] !== last) onSeries((last = seriesIds[i]!));
  }
  const { ids, shardOf } = series;
  const timeWords = wordsOf(times);
  const group = table.shardId;
  columns.forEach((column, at) => {
    const field = table.fields[at];
    if (field === undefined) return;
    const id = columnIdOf(table.measurement, field.name, field.type);
    const { valid } = column;
    const blocks = shards.map((rows) => rows.room());
    const firsts = blocks.map(({ length }) => length);
    const values = column.type === 'string' ? undefined : wordsOf(eightBytes(column));
    for (let i = 0; i < seriesIds.length; i++) {
      if (valid !== undefined && valid[i] !== 1) continue;
      const local = seriesIds[i]!;
      const shard = shardOf[local]!;
      let block = blocks[shard]!;
      if (block.isFull) {
        block.fill(firsts[shard]!, id, group);
        blocks[shard] = block = shards[shard]!.room();
        firsts[shard] = 0;
      }
      const row = block.length++;
      const to = 2 * row;
      block.series[to] = ids[2 * local]!;
      block.series[to + 1] = ids[2 * local + 1]!;
      block.times[to] = timeWords[2 * i]!;
      block.times[to + 1] = timeWords[2 * i + 1]!;
      if (values !== undefined) {
        const numbers = block.numbers(column.type === 'float');
        numbers[to] = values[2 * i]!;
        numbers[to + 1] = values[2 * i + 1]!;
      } else if (column.type === 'string') {
        block.text(row, textAt(column.texts, column.codes[i]!));
      }
    }
    blocks.forEach((block, shard) => block.fill(firsts[shard]!, id, group));
  });
}

function wordsOf({ buffer, byteOffset, length }: EightBytes): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length * 2);
}

type EightBytes = Float64Array | BigInt64Array | BigUint64Array;

/**
 * Values as 64-bit words: floats go to column `f`; integers, unsigned integers by their bits, and
 * booleans as 0 or 1 to `i`.
 */
function eightBytes(column: Exclude<Column, { readonly type: 'string' }>): EightBytes {
  return column.type === 'boolean' ? BigInt64Array.from(column.values, BigInt) : column.values;
}
