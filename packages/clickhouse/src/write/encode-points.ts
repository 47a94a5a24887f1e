// Rows of the ingest kernel as rows of the tables: a value per series, time and field.
import { floorDiv, NANOS_PER_HOUR } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import { RowRoom } from '@tidemark/kernels';
import type { StagedTable } from '@tidemark/kernels';

import { columnIdOf } from '../ids.ts';
import type { RowWriter } from '../sql/row-binary.ts';

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
    let last = -1;
    let target: SeriesTarget | undefined;
    for (let row = 0; row < times.length; row++) {
      if (column.valid !== undefined && column.valid[row] !== 1) continue;
      const local = seriesIds[row]!;
      if (local !== last || target === undefined) target = targetOf((last = local));
      const { writer } = target;
      writer.uint64(columnId);
      writer.int32(hours[row]!);
      writer.uint64(target.id);
      writer.int64(times[row]!);
      writeValue(writer, column, row);
      writer.uint64(batch);
      writer.uint32(table.shardId);
    }
  });
}

/** Columns `f`, `i` and `s`: a float, an integer (unsigned: its bits; boolean: 0 or 1), a text. */
function writeValue(writer: RowWriter, column: Column, row: number): void {
  writer.float64(column.type === 'float' ? column.values[row]! : 0);
  switch (column.type) {
    case 'integer':
      writer.int64(column.values[row]!);
      break;
    case 'unsigned':
      writer.uint64(column.values[row]!);
      break;
    case 'boolean':
      writer.int64(column.values[row] === 1 ? 1n : 0n);
      break;
    default:
      writer.int64(0n);
  }
  writer.text(column.type === 'string' ? (column.dictionary[column.codes[row]!] ?? '') : '');
}
