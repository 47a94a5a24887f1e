// Rows of the ingest kernel as rows of the tables: a value per series, time and field.
import { floorDiv, NANOS_PER_HOUR } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import { RowRoom } from '@tidemark/kernels';
import type { StagedTable } from '@tidemark/kernels';

import { columnIdOf } from '../ids.ts';
import type { PointRow, RowWriter } from '../sql/row-binary.ts';

/** Where the rows of a series go. */
export type SeriesTarget = {
  /** The id that all front ends give it. */
  readonly id: bigint;
  readonly writer: RowWriter;
};

const room = new RowRoom();

/** Appends every value of a table. `targetOf` is asked once per run of rows of one series. */
export function encodePoints(
  table: StagedTable,
  batch: bigint,
  targetOf: (localSeries: number) => SeriesTarget,
): void {
  const { seriesIds, times, columns } = table.copyRows(room);
  const hours = Int32Array.from(times, (time) => Number(floorDiv(time, NANOS_PER_HOUR)));
  columns.forEach((column, at) => {
    const field = table.fields[at];
    if (field === undefined) return;
    const columnId = columnIdOf(table.measurement, field.name, field.type);
    const ids = new BigUint64Array([columnId, 0n, batch, BigInt(table.shardId)]);
    const row: PointRow = {
      ids: wordsOf(ids),
      hours,
      times: wordsOf(times),
      values: column.type === 'string' ? NO_WORDS : wordsOf(eightBytes(column)),
      isFloat: column.type === 'float',
    };
    let last = -1;
    let target: SeriesTarget | undefined;
    for (let i = 0; i < times.length; i++) {
      if (column.valid !== undefined && column.valid[i] !== 1) continue;
      const local = seriesIds[i]!;
      if (local !== last || target === undefined) {
        target = targetOf((last = local));
        ids[1] = target.id;
      }
      const { writer } = target;
      if (column.type !== 'string') {
        writer.point(row, i);
        continue;
      }
      writer.uint64(columnId);
      writer.int32(hours[i]!);
      writer.uint64(target.id);
      writer.int64(times[i]!);
      writer.float64(0);
      writer.int64(0n);
      writer.text(column.dictionary[column.codes[i]!] ?? '');
      writer.uint64(batch);
      writer.uint32(table.shardId);
    }
  });
}

const NO_WORDS = new Uint32Array();

function wordsOf({ buffer, byteOffset, length }: EightBytes): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length * 2);
}

type EightBytes = Float64Array | BigInt64Array | BigUint64Array;

/** A float is in `f`; an integer, an unsigned one by its bits, and a boolean as 0 or 1 in `i`. */
function eightBytes(column: Exclude<Column, { readonly type: 'string' }>): EightBytes {
  return column.type === 'boolean' ? BigInt64Array.from(column.values, BigInt) : column.values;
}
