// One chunk as part of an answer: statistics, cached columns, or decoded columns, whichever is
// needed, each read once.
import type { Column, FieldType, TimeRange } from '@tidemark/core';
import { CACHED_ROWS_MAX } from '@tidemark/kernels';
import type { CachedColumn, CachedRows, ColumnCondition } from '@tidemark/kernels';
import type { SourceCounters } from '@tidemark/query';

import { scans } from '../columns/codecs.ts';
import type { ChunkMeta, ColumnMeta, SegmentMeasurement } from '../segment/format.ts';
import type { ReadAhead, Segment } from '../segment/segment.ts';
import { converts } from './convert.ts';
import { presenceColumn } from '../columns/presence.ts';
import { lowerBound, sliceColumn } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import type { WantedField } from './convert.ts';

export type ChunkSource = {
  readonly segment: Segment;
  readonly stored: SegmentMeasurement;
  readonly meta: ChunkMeta;
  /** In the order of the wanted fields; `undefined` = the chunk lacks the field. */
  readonly columns: readonly (ColumnMeta | undefined)[];
  readonly timeRange: TimeRange;
  readonly counters: SourceCounters;
  /** Of the values nothing is asked but which are there (`presence.ts`). */
  readonly presenceOnly: boolean;
};

/** Cached columns of one chunk and the rows of them that are asked for. */
export type CachedChunkColumn = {
  readonly times: CachedColumn;
  readonly values: CachedColumn;
  readonly rows: CachedRows;
};

/** Rows of a chunk within a time range, none of them deleted. Columns are in the stored type. */
export class ChunkReader {
  readonly meta: ChunkMeta;
  readonly columns: readonly (ColumnMeta | undefined)[];
  readonly #source: ChunkSource;
  #whole: ReadAhead | undefined;
  #isRead = false;
  #rows: CachedRows | undefined;
  #times: BigInt64Array | undefined;

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

  /** The rows of the chunk that lie within the time range. */
  get rows(): CachedRows {
    if (this.#rows !== undefined) return this.#rows;
    const { meta, counters, timeRange } = this.#source;
    const { minTime, maxTime, rows } = meta;
    let from = 0;
    let to = rows;
    if (minTime < timeRange.start || maxTime > timeRange.end) {
      const cached = this.#cachedTimes();
      const before =
        cached === undefined
          ? (time: bigint) => lowerBound(this.#allTimes(), time)
          : (time: bigint) => this.#source.segment.columnCache.rowsBefore(cached, time);
      if (minTime < timeRange.start) from = before(timeRange.start);
      if (maxTime > timeRange.end) to = before(timeRange.end + 1n);
    }
    counters.chunksRead++;
    counters.rowsRead += to - from;
    this.#rows = { from, to };
    return this.#rows;
  }

  /** Times within the range. */
  get times(): BigInt64Array {
    if (this.#times !== undefined) return this.#times;
    const { rows } = this;
    const cached = this.#cachedTimes();
    this.#times =
      cached === undefined
        ? this.#allTimes().subarray(rows.from, rows.to)
        : this.#source.segment.columnCache.times(cached, rows);
    return this.#times;
  }

  /**
   * The times and the rows of them that are asked for; `undefined` when the chunk is too long for
   * the cache.
   */
  cachedRows(): { readonly times: CachedColumn; readonly rows: CachedRows } | undefined {
    const { rows } = this;
    const times = this.#cachedTimes();
    return times && { times, rows };
  }

  /**
   * A column of numbers or booleans without nulls and its times, for as long as no other column is
   * asked for.
   */
  cached(index: number): CachedChunkColumn | undefined {
    const { rows } = this;
    const times = this.#cachedTimes();
    const values = times && this.#cachedValues(index, times);
    return times && values && { times, values, rows };
  }

  /** Values of a column at `times`, or at those that the mask keeps. */
  column(index: number, mask?: Uint8Array): Column | undefined {
    const meta = this.columns[index];
    if (meta === undefined) return undefined;
    const cached = this.cached(index);
    if (cached !== undefined) {
      if (mask === undefined)
        return this.#source.segment.columnCache.column(cached.values, cached.rows);
      const count = this.#source.segment.columnCache.chooseRows(mask, cached.rows.from);
      return this.#source.segment.columnCache.chosenColumn(cached.values, count);
    }
    const { from, to } = this.rows;
    const { segment, stored } = this.#source;
    const all = segment.column(stored, this.meta, meta, this.#bytes());
    const column = sliceColumn(all, from, to);
    return mask === undefined ? column : scans().selectColumn(column, mask);
  }

  /**
   * Times and columns at the rows that the mask keeps, of columns that are cached without
   * exception; `undefined` otherwise. The first `count` columns are wanted.
   */
  chosen(mask: Uint8Array, count: number): Run | undefined {
    for (let i = 0; i < count; i++) {
      if (this.columns[i] !== undefined && !this.#isCacheable(i)) return undefined;
    }
    const { rows } = this;
    const times = this.#cachedTimes();
    if (times === undefined) return undefined;
    const kept = this.#source.segment.columnCache.chooseRows(mask, rows.from);
    if (kept === 0) {
      return {
        times: new BigInt64Array(),
        columns: Array.from({ length: count }, () => undefined),
      };
    }
    return this.#source.segment.columnCache.chosenRun(times, kept, {
      columns: count,
      columnAt: (index) => this.#cachedValues(index, times),
    });
  }

  /**
   * Clears the mask where the comparison is false; `false` when it has to be made on the decoded
   * column.
   */
  filterInPlace(mask: Uint8Array, index: number, condition: ColumnCondition): boolean {
    const cached = this.cached(index);
    if (cached === undefined) return false;
    this.#source.segment.columnCache.filterInPlace(mask, cached.values, {
      rows: cached.rows,
      ...condition,
    });
    return true;
  }

  /** All columns at `times`. */
  run(): Run {
    return { times: this.times, columns: this.columns.map((_, i) => this.column(i)) };
  }

  /** All rows of the chunk, from the file. */
  load(): Run {
    const { segment, stored, meta, columns, counters } = this.#source;
    counters.chunksRead++;
    return segment.readChunk(stored, meta, columns, this.#bytes());
  }

  /**
   * All rows of the chunk, from the file; columns tell which rows have a value in the type of the
   * field.
   */
  presence(fields: readonly WantedField[]): Run {
    const { segment, stored, counters } = this.#source;
    counters.chunksRead++;
    const times = this.#allTimes();
    const columns = this.columns.map((column, i) => {
      const type = this.type(i);
      if (column === undefined || type === undefined) return undefined;
      if (!converts(type, fields[i]?.type ?? type)) return undefined;
      if (column.validBytes === 0) return presenceColumn(times.length, undefined);
      const { valid } = segment.column(stored, this.meta, column, this.#bytes());
      return presenceColumn(times.length, valid);
    });
    return { times, columns };
  }

  #isCacheable(index: number): boolean {
    const column = this.columns[index];
    if (column === undefined || column.validBytes > 0) return false;
    return this.meta.rows <= CACHED_ROWS_MAX && this.type(index) !== 'string';
  }

  #cachedTimes(): CachedColumn | undefined {
    const { segment, meta } = this.#source;
    if (meta.rows > CACHED_ROWS_MAX) return undefined;
    return segment.heldTimes(meta) ?? segment.cacheTimes(meta, this.#bytes());
  }

  #cachedValues(index: number, beside: CachedColumn): CachedColumn | undefined {
    const meta = this.columns[index];
    const type = this.type(index);
    if (meta === undefined || type === undefined || type === 'string') return undefined;
    if (!this.#isCacheable(index)) return undefined;
    const { segment } = this.#source;
    const held = segment.heldValues(meta);
    return held ?? segment.cacheValues(meta, { type, beside, whole: this.#bytes() });
  }

  /** Every time of the chunk, for chunks that are too long for the cache. */
  #allTimes(): BigInt64Array {
    return this.#source.segment.times(this.meta, this.#bytes());
  }

  /**
   * The chunk's bytes, read when something is missing for the first time; `undefined` to read
   * blocks one by one.
   */
  #bytes(): ReadAhead | undefined {
    if (this.#isRead) return this.#whole;
    this.#isRead = true;
    const { segment, meta, columns, counters, presenceOnly } = this.#source;
    if (presenceOnly && columns.every((column) => !column?.validBytes)) {
      counters.bytesRead += meta.timeBytes;
      return undefined;
    }
    this.#whole = segment.readAhead(meta, columns);
    counters.bytesRead += meta.timeBytes;
    for (const column of columns) {
      if (column !== undefined) counters.bytesRead += column.validBytes + column.valueBytes;
    }
    return this.#whole;
  }
}
