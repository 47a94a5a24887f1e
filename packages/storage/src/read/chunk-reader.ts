// One chunk as part of an answer: statistics, encoded blocks, or decoded columns, whichever is needed, each read once.
import type { Column, FieldType, TimeRange } from '@tidemark/core';
import type { SourceCounters } from '@tidemark/query';

import type { ChunkMeta, ColumnMeta, SegmentMeasurement } from '../segment/format.ts';
import type { ReadAhead, Segment } from '../segment/segment.ts';
import { lowerBound, sliceColumn } from './run.ts';
import { scans } from '../codecs.ts';
import type { Run } from './run.ts';

export type ChunkSource = {
  readonly segment: Segment;
  readonly stored: SegmentMeasurement;
  readonly meta: ChunkMeta;
  /** In the order of the wanted fields; `undefined` = the chunk lacks the field. */
  readonly columns: readonly (ColumnMeta | undefined)[];
  readonly timeRange: TimeRange;
  readonly counters: SourceCounters;
};

/** Rows of a chunk within a time range, none of them deleted. Columns are in the stored type. */
export class ChunkReader {
  readonly meta: ChunkMeta;
  readonly columns: readonly (ColumnMeta | undefined)[];
  readonly #source: ChunkSource;
  #whole: ReadAhead | undefined;
  #times: BigInt64Array | undefined;
  #from = 0;

  constructor(source: ChunkSource) {
    this.#source = source;
    this.meta = source.meta;
    this.columns = source.columns;
  }

  /** All rows are within the time range: statistics hold. */
  get isWhole(): boolean {
    const { meta, timeRange } = this.#source;
    return meta.minTime >= timeRange.start && meta.maxTime <= timeRange.end;
  }

  /** Stored type of a wanted field; `undefined` when the chunk lacks it. */
  type(index: number): FieldType | undefined {
    const column = this.columns[index];
    return column && this.#source.stored.fields[column.field]?.type;
  }

  /** Counts the chunk as read. */
  countRead(): void {
    const { meta, columns, counters } = this.#source;
    counters.chunksRead++;
    counters.bytesRead += meta.timeBytes;
    for (const column of columns) {
      if (column !== undefined) counters.bytesRead += column.validBytes + column.valueBytes;
    }
  }

  /** Times within the range. */
  get times(): BigInt64Array {
    if (this.#times !== undefined) return this.#times;
    const { segment, meta, columns, counters, timeRange } = this.#source;
    this.countRead();
    this.#whole = segment.readAhead(meta, columns);
    const times = segment.times(meta, this.#whole);
    this.#from = meta.minTime >= timeRange.start ? 0 : lowerBound(times, timeRange.start);
    const to =
      meta.maxTime <= timeRange.end
        ? times.length
        : lowerBound(times, timeRange.end + 1n, this.#from);
    this.#times = this.#from === 0 && to === meta.rows ? times : times.subarray(this.#from, to);
    counters.rowsRead += this.#times.length;
    return this.#times;
  }

  /** The encoded values of a column without nulls and its row that belongs to the first of `times`. */
  encoded(index: number): { readonly block: Uint8Array; readonly from: number } | undefined {
    const column = this.columns[index];
    if (column === undefined || column.validBytes > 0) return undefined;
    // Reading the times finds the first row.
    if (this.times.length === 0) return undefined;
    return { block: this.#source.segment.valueBlock(column, this.#whole), from: this.#from };
  }

  /** Runs a decoder of a column's encoded values; damage becomes `Corruption` of the file. */
  decoding<T>(index: number, decode: () => T): T {
    return this.#source.segment.decoding(this.columns[index]?.offset ?? 0, decode);
  }

  /** Values of a column at `times`, or at those that the mask keeps. */
  column(index: number, mask?: Uint8Array): Column | undefined {
    const meta = this.columns[index];
    if (meta === undefined) return undefined;
    const { segment, stored } = this.#source;
    const count = this.times.length;
    const field = stored.fields[meta.field];
    if (field !== undefined && field.type !== 'string' && meta.validBytes === 0) {
      const rows = { count: this.meta.rows, from: this.#from, to: this.#from + count, mask };
      return segment.rowsOfColumn(field, meta, { rows, whole: this.#whole });
    }
    const all = segment.column(stored, this.meta, meta, this.#whole);
    const column = sliceColumn(all, this.#from, this.#from + count);
    return mask === undefined ? column : scans().selectColumn(column, mask);
  }

  /** All columns at `times`. */
  run(): Run {
    return { times: this.times, columns: this.columns.map((_, i) => this.column(i)) };
  }
}
