// Reads the rows of one series in a chunk for an answer: statistics, cached columns or decoded
// columns, whatever is needed. Each is read once.
import { assert } from '@tidemark/core';
import type { Column, FieldType, Texts, TimeRange } from '@tidemark/core';
import { CACHED_ROWS_MAX } from '@tidemark/kernels';
import type {
  CachedColumn,
  CachedRows,
  ColumnCache,
  ColumnCondition,
  TextSearch,
} from '@tidemark/kernels';
import type { SourceCounters } from '@tidemark/query';

import { scans } from '../columns/codecs.ts';
import type { TimeSpan } from '../columns/overlaps.ts';
import type { ChunkMeta, ColumnMeta, NumericStatistics } from '../segment/format.ts';
import type { LargeTexts, RowPart } from '../segment/large-texts.ts';
import { mayBeLarge } from '../segment/segment.ts';
import { matchTexts, textsAt } from '../segment/chosen-texts.ts';
import type { ReadAhead } from '../segment/segment-blocks.ts';
import type { StoredRows } from '../shard/stored-rows.ts';
import { converts } from './convert.ts';
import { clipRun, lowerBound, sliceColumn } from '../columns/run.ts';
import { firstNotBelow } from '../columns/search.ts';
import type { Run } from '../columns/run.ts';
import type { SeriesRows } from '../columns/series-rows.ts';
import { presenceColumn } from '../columns/presence.ts';
import type { WantedField } from './convert.ts';
import type { PieceCosts } from './piece-costs.ts';
import type { Piece } from './pieces.ts';
import { partsOfRows, rowsAtOnce } from './row-parts.ts';
import { readColumns } from './wanted-columns.ts';
import type { Wanted } from './wanted-columns.ts';

/** What is wanted of chunks. */
export type ChunkRequest = Wanted & {
  readonly timeRange: TimeRange;
  readonly counters: SourceCounters;
  /** The reader takes one column after another, and keeps only few at once. */
  readonly columnwise?: boolean | undefined;
  /** The reader begins with the last rows. */
  readonly descending?: boolean | undefined;
};

/** A cached column with its times, and the range of rows that is wanted. */
export type CachedChunkColumn = {
  readonly times: CachedColumn;
  readonly values: CachedColumn;
  readonly rows: CachedRows;
};

/**
 * Rows of a series in a chunk, of which those within the time range are wanted. Where some are
 * deleted, only `load` and `within` leave them out. Columns have the stored type.
 */
export class ChunkReader implements Piece {
  readonly meta: ChunkMeta;
  readonly columns: readonly (ColumnMeta | undefined)[];
  readonly #request: ChunkRequest;
  readonly #stored: StoredRows;
  #whole: ReadAhead | undefined;
  #isRead = false;
  #rows: CachedRows | undefined;
  #span: TimeSpan | undefined;
  /** Times of all the rows, and of the wanted ones. */
  #allTimes: BigInt64Array | undefined;
  #times: BigInt64Array | undefined;
  /** Columns of texts that were decoded as a whole, by their index. */
  readonly #texts = new Map<number, Column>();
  /** By the index of the column. */
  readonly #large = new Map<number, LargeTexts | undefined>();

  /** `columns` has one for each wanted field; `undefined` where the chunk lacks it. */
  constructor(
    request: ChunkRequest,
    rows: StoredRows,
    columns: readonly (ColumnMeta | undefined)[],
  ) {
    this.#request = request;
    this.#stored = rows;
    this.meta = rows.chunk;
    this.columns = columns;
  }

  /**
   * Whether the rows are those of the chunk and all within the time range, so that its statistics
   * can be used.
   */
  get isWhole(): boolean {
    const { timeRange } = this.#request;
    const { minTime, maxTime } = this.meta;
    return this.#stored.isWholeChunk && minTime >= timeRange.start && maxTime <= timeRange.end;
  }

  get chunk(): this | undefined {
    return this.#stored.covered === 'none' ? this : undefined;
  }

  get count(): number {
    return this.#stored.count;
  }

  get span(): TimeSpan {
    this.#span ??= this.#stored.isPart ? this.#spanOfPart() : this.meta;
    return this.#span;
  }

  #spanOfPart(): TimeSpan {
    const rows = this.#stored;
    if (rows.ids.length > 1) return rows.span();
    // Neighbouring series are mostly read, too: their times are cached.
    const times = this.allTimes;
    return { minTime: times[0]!, maxTime: times.at(-1)! };
  }

  /** The stored type of a wanted field; `undefined` when the chunk lacks it. */
  type(index: number): FieldType | undefined {
    const column = this.columns[index];
    return column && this.#stored.stored.fields[column.field]?.type;
  }

  /** Statistics of a column, if it has the type and they are of the rows of this series. */
  statistics(index: number, type: FieldType | undefined): NumericStatistics | undefined {
    if (type !== this.type(index) || !this.#stored.isWholeChunk) return undefined;
    return this.columns[index]?.statistics;
  }

  /** The range of rows within the time range. */
  get rows(): CachedRows {
    if (this.#rows !== undefined) return this.#rows;
    const { counters, timeRange } = this.#request;
    const rows = this.#stored;
    const { minTime, maxTime } = this.meta;
    let { from, to } = rows;
    if (minTime < timeRange.start || maxTime > timeRange.end) {
      const cached = rows.isPart ? undefined : this.#cachedTimes();
      const before =
        cached === undefined
          ? (time: bigint) => rows.from + lowerBound(this.allTimes, time)
          : (time: bigint) => this.#cache.rowsBefore(cached, time);
      if (minTime < timeRange.start) from = before(timeRange.start);
      if (maxTime > timeRange.end) to = before(timeRange.end + 1n);
    }
    counters.chunksRead++;
    counters.rowsRead += to - from;
    this.#rows = { from, to };
    return this.#rows;
  }

  /** Times of the wanted rows. */
  get times(): BigInt64Array {
    if (this.#times !== undefined) return this.#times;
    const { rows } = this;
    const cached = this.#allTimes === undefined ? this.#cachedTimes() : undefined;
    if (cached !== undefined) this.#times = this.#cache.times(cached, rows);
    else {
      const all = this.allTimes;
      const first = this.#stored.from;
      const isAll = rows.to - rows.from === all.length;
      this.#times = isAll ? all : all.subarray(rows.from - first, rows.to - first);
    }
    return this.#times;
  }

  get allTimes(): BigInt64Array {
    if (this.#allTimes !== undefined) return this.#allTimes;
    const rows = this.#stored;
    // Neighbouring series of the chunk are mostly read, too.
    const cached = rows.isPart ? this.#cachedTimes() : undefined;
    this.#allTimes =
      cached === undefined ? rows.times(this.#ownBytes()) : this.#cache.times(cached, rows);
    return this.#allTimes;
  }

  /**
   * All times of the chunk, cached, and the range of wanted rows; `undefined` when the chunk is too
   * long for the cache.
   */
  cachedRows(): { readonly times: CachedColumn; readonly rows: CachedRows } | undefined {
    const { rows } = this;
    const times = this.#cachedTimes();
    return times && { times, rows };
  }

  /**
   * A cached column with its times, valid until the next column is requested. `undefined` for
   * strings, for columns with nulls and for chunks that are too long for the cache.
   */
  cached(index: number): CachedChunkColumn | undefined {
    const { rows } = this;
    const times = this.#cachedTimes();
    const values = times && this.#cachedValues(index);
    return times && values && { times, values, rows };
  }

  /** Values of the wanted rows, or of those that the mask keeps. */
  column(index: number, mask?: Uint8Array): Column | undefined {
    const meta = this.columns[index];
    if (meta === undefined) return undefined;
    const { from, to } = this.rows;
    const values = this.#cachedValues(index);
    if (values !== undefined) {
      if (mask === undefined) return this.#cache.column(values, this.rows);
      const count = this.#cache.chooseRows(mask, from);
      return this.#cache.chosenColumn(values, count);
    }
    const rows = this.#stored;
    const decoded = this.#texts.get(index);
    if (this.type(index) === 'string' && decoded === undefined && !rows.isPart) {
      const isSome = mask !== undefined || to - from < rows.count;
      if (isSome) {
        const numbers = rowNumbers(from, to, mask);
        const place = { chunk: this.meta, meta };
        const asked = { rows: numbers, whole: this.#bytes() };
        return textsAt(rows.segment.blocks, place, asked);
      }
    }
    const all = decoded ?? rows.column(meta, this.#ownBytes());
    // A condition and the answer may want the same texts.
    if (all.type === 'string') this.#texts.set(index, all);
    const column = sliceColumn(all, from - rows.from, to - rows.from);
    return mask === undefined ? column : scans().selectColumn(column, mask);
  }

  /**
   * The values of a column of numbers or booleans in which few of the wanted rows have one, with
   * their times; `undefined` for other columns, and where other series have rows in the chunk.
   */
  fewValues(index: number): { readonly times: BigInt64Array; readonly column: Column } | undefined {
    const meta = this.columns[index];
    const { segment, stored, isPart } = this.#stored;
    if (meta === undefined || meta.validBytes === 0 || isPart) return undefined;
    const found = segment.fewValues(stored, this.meta, meta, this.#bytes());
    if (found === undefined) return undefined;
    const { from, to } = this.rows;
    const first = firstNotBelow(found.rows, from);
    const end = firstNotBelow(found.rows, to, first);
    const { times } = this;
    const own = new BigInt64Array(end - first);
    for (let i = first; i < end; i++) own[i - first] = times[found.rows[i]! - from]!;
    return { times: own, column: sliceColumn(found.dense, first, end) };
  }

  /**
   * The first or last text of a column without nulls, for callers that may need nothing else of it.
   */
  text(index: number, side: 'first' | 'last'): Texts {
    const meta = this.columns[index];
    assert(meta !== undefined, 'the chunk has the column');
    const { segment, from, to } = this.#stored;
    const rows = Uint32Array.of(side === 'first' ? from : to - 1);
    const column = textsAt(segment.blocks, { chunk: this.meta, meta }, { rows });
    assert(column.type === 'string', 'a column of texts');
    return column.texts;
  }

  /**
   * Narrows the wanted rows to the first or last ones of them. Call it before any are read, and
   * only where every row counts: when a wanted column has no nulls (`hasFullColumn`).
   */
  narrow(count: number, side: 'first' | 'last'): void {
    const { from, to } = this.rows;
    if (side === 'last') this.#rows = { from: Math.max(from, to - count), to };
    else this.#rows = { from, to: Math.min(to, from + count) };
  }

  /** Whether one of the first `count` columns has a value in every row, of the wanted type. */
  hasFullColumn(fields: readonly WantedField[], count: number): boolean {
    for (let i = 0; i < count; i++) {
      const type = this.type(i);
      if (this.columns[i]?.validBytes === 0 && type !== undefined) {
        if (converts(type, fields[i]?.type ?? type)) return true;
      }
    }
    return false;
  }

  /**
   * Times and the first `count` columns of the rows that the mask keeps, at least one; `undefined`
   * when one of these columns cannot be cached.
   */
  chosen(mask: Uint8Array, count: number): Run | undefined {
    for (let i = 0; i < count; i++) {
      if (this.columns[i] !== undefined && !this.#isCacheable(i)) return undefined;
    }
    const { rows } = this;
    const times = this.#cachedTimes();
    if (times === undefined) return undefined;
    const kept = this.#cache.chooseRows(mask, rows.from);
    return this.#cache.chosenRun(times, kept, {
      columns: count,
      columnAt: (index) => this.#cachedValues(index),
    });
  }

  /**
   * Clears the mask where the comparison is false. Returns `false` when the column is not cached:
   * then the decoded one has to be compared.
   */
  filterInPlace(mask: Uint8Array, index: number, condition: ColumnCondition): boolean {
    const cached = this.cached(index);
    if (cached === undefined) return false;
    this.#cache.filterInPlace(mask, cached.values, { rows: cached.rows, ...condition });
    return true;
  }

  /**
   * A mask of the wanted rows whose texts satisfy the search. `undefined` for a column of another
   * type, where other series have rows in the chunk, and where its texts are decoded already or too
   * many to be unpacked at once.
   */
  search(index: number, search: TextSearch): Uint8Array | undefined {
    const meta = this.columns[index];
    const { segment, isPart } = this.#stored;
    if (meta === undefined || this.type(index) !== 'string' || isPart) return undefined;
    if (this.#texts.has(index) || this.#largeTexts(index) !== undefined) return undefined;
    const { from, to } = this.rows;
    const whole = this.#bytes();
    const found = matchTexts(segment.blocks, { chunk: this.meta, meta }, { search, whole });
    return found.subarray(from, to);
  }

  /** Times and all columns of the wanted rows. */
  run(): Run {
    return { times: this.times, columns: this.columns.map((_, i) => this.column(i)) };
  }

  /**
   * Parts of the wanted rows, when their texts are too many to be decoded at once, or their columns
   * where they are not read one by one; `undefined` for nearly all chunks.
   */
  parts(): readonly RowPart[] | undefined {
    const { presenceOnly, columnwise, descending } = this.#request;
    const rows = this.#stored;
    if (presenceOnly || rows.isPart) return undefined;
    for (let i = 0; i < this.columns.length; i++) {
      const large = this.#largeTexts(i);
      // Rows with one large column rarely have another.
      if (large !== undefined) return large.parts(this.rows);
    }
    const rowsMax = rowsAtOnce(this.columns.length);
    if (columnwise === true || rows.count <= rowsMax) return undefined;
    const { from, to } = this.rows;
    if (to - from <= rowsMax) return undefined;
    return partsOfRows({ from, to }, rowsMax, descending === true);
  }

  /** Times and all columns of one of the parts. */
  part(part: RowPart): Run {
    const first = this.rows.from;
    const from = part.from - first;
    const to = part.to - first;
    const columns = this.columns.map((_, i) => this.#columnPart(i, part));
    return { times: this.times.subarray(from, to), columns };
  }

  within(range: TimeRange): Run {
    const { counters, presenceOnly } = this.#request;
    const rows = this.#stored;
    if (presenceOnly || rows.isPart) return clipRun(this.load(), range.start, range.end);
    if (!this.#isRead) counters.chunksRead++;
    const times = this.allTimes;
    const from = lowerBound(times, range.start);
    const to = lowerBound(times, range.end + 1n, from);
    const columns = this.columns.map((_, i) => this.#columnPart(i, { from, to }));
    return rows.left({ times: times.slice(from, to), columns });
  }

  #columnPart(index: number, part: RowPart): Column | undefined {
    const meta = this.columns[index];
    if (meta === undefined) return undefined;
    const { segment, stored } = this.#stored;
    const large = this.#largeTexts(index);
    if (large !== undefined) return segment.blocks.decoding(meta.offset, () => large.column(part));
    const values = this.#cachedValues(index);
    if (values !== undefined) return this.#cache.column(values, part);
    return segment.columnPart(stored, this.meta, meta, { ...part, whole: this.#bytes() });
  }

  #largeTexts(index: number): LargeTexts | undefined {
    const column = this.columns[index];
    if (column === undefined || !mayBeLarge(column)) return undefined;
    if (this.#large.has(index)) return this.#large.get(index);
    const { segment, stored } = this.#stored;
    const large = segment.largeTexts(stored, this.meta, column);
    this.#large.set(index, large);
    return large;
  }

  load(): Run {
    return this.#stored.left(this.#all());
  }

  loadOfSeries(): SeriesRows {
    return this.#stored.leftOfSeries(this.#all());
  }

  /** All rows, wanted or not, deleted ones included. Values, or where there are any. */
  #all(): Run {
    const rows = this.#stored;
    this.#request.counters.chunksRead++;
    const values = (index: number): Column => {
      const cached = rows.isPart ? this.#cachedValues(index) : undefined;
      if (cached !== undefined) return this.#cache.column(cached, rows);
      return rows.column(this.columns[index]!, this.#ownBytes());
    };
    const columns = readColumns(this.#request, {
      type: (index) => this.type(index),
      values,
      presence: (index) => {
        const isFull = this.columns[index]!.validBytes === 0;
        return presenceColumn(rows.count, isFull ? undefined : values(index).valid);
      },
    });
    return { times: this.allTimes, columns };
  }

  addCost(costs: PieceCosts, isRead: (index: number) => boolean): void {
    const columns = this.columns.filter(
      (column, i): column is ColumnMeta => column !== undefined && isRead(i),
    );
    const { segment, isPart } = this.#stored;
    costs.addChunk(segment, this.meta, { columns, isPart });
  }

  get #cache(): ColumnCache {
    return this.#stored.segment.columnCache;
  }

  #isCacheable(index: number): boolean {
    const column = this.columns[index];
    if (column === undefined || column.validBytes > 0) return false;
    return this.meta.rows <= CACHED_ROWS_MAX && this.type(index) !== 'string';
  }

  #cachedTimes(): CachedColumn | undefined {
    const { segment } = this.#stored;
    if (this.meta.rows > CACHED_ROWS_MAX) return undefined;
    return segment.cachedTimes(this.meta) ?? segment.cacheTimes(this.meta, this.#bytes());
  }

  /** May add the times of the chunk to the cache, and evict others than those. */
  #cachedValues(index: number): CachedColumn | undefined {
    const meta = this.columns[index];
    const type = this.type(index);
    if (meta === undefined || type === undefined || type === 'string') return undefined;
    if (!this.#isCacheable(index)) return undefined;
    const { segment } = this.#stored;
    const known = segment.cachedValues(meta);
    if (known !== undefined) return known;
    const beside = this.#cachedTimes();
    return beside && segment.cacheValues(meta, { type, beside, whole: this.#bytes() });
  }

  /** The bytes of a chunk of one series. Of others, the decoded columns are kept. */
  #ownBytes(): ReadAhead | undefined {
    return this.#stored.isPart ? undefined : this.#bytes();
  }

  /**
   * Reads the blocks of the chunk with one call when the first of them is needed; `undefined` when
   * they are to be read one by one.
   */
  #bytes(): ReadAhead | undefined {
    if (this.#isRead) return this.#whole;
    this.#isRead = true;
    const { counters, presenceOnly } = this.#request;
    const rows = this.#stored;
    const { meta, columns } = this;
    if (presenceOnly && columns.every((column) => !column?.validBytes)) {
      counters.bytesRead += meta.timeBytes;
      return undefined;
    }
    this.#whole = rows.segment.blocks.readAhead(meta, columns);
    counters.bytesRead += meta.timeBytes;
    for (const column of columns) {
      if (column !== undefined) counters.bytesRead += column.validBytes + column.valueBytes;
    }
    return this.#whole;
  }
}

/** Numbers of the rows [from, to), or of those that the mask keeps; it begins at `from`. */
function rowNumbers(from: number, to: number, mask: Uint8Array | undefined): Uint32Array {
  const rows = new Uint32Array(to - from);
  let count = 0;
  for (let row = from; row < to; row++) {
    if (mask === undefined || mask[row - from] === 1) rows[count++] = row;
  }
  return rows.subarray(0, count);
}
