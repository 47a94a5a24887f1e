// Keeps decoded columns in linear memory, for chunks that are read repeatedly. assembly/cached.ts
// describes their narrow forms. Memory is divided into slabs. One slab is filled after another;
// when all are full, the next one whose columns have not been used since the last round is emptied
// as a whole. So eviction costs nothing per column, and columns in use stay.
import { assert, floatBits, Unavailable } from '@tidemark/core';
import type { Column } from '@tidemark/core';

import { Area, CACHED_HEADER_BYTES, CACHED_ROWS_MAX, VALUE_KINDS } from './abi.gen.ts';
import { checkResult } from './codec-error.ts';
import { kernelComparison } from './comparison.ts';
import type { ColumnCondition } from './comparison.ts';
import { KernelBuffer } from './kernel-buffer.ts';
import type { Kernels } from './loader.ts';

export type CachedType = Exclude<keyof typeof VALUE_KINDS, 'text' | 'epoch'>;

/**
 * A cached column. Valid until the next column is added; after that, only if `ColumnCache.get`
 * returns it again.
 */
export type CachedColumn = {
  readonly type: CachedType;
  readonly count: number;
  readonly address: number;
  readonly slab: Slab;
};

/** The cached columns of one owner, such as a file, by keys of its choice. */
export type CacheEntries = Map<number, CachedColumn>;

type Slab = {
  readonly address: number;
  usedBytes: number;
  wasUsed: boolean;
  /** Columns in this slab. */
  contents: { readonly entries: CacheEntries; readonly key: number }[];
};

const EXHAUSTED = 'kernel memory is exhausted';

/** A column takes an eighth at most, so that little space is left unused at the end. */
const SLAB_BYTES = CACHED_ROWS_MAX * 8 * 8;
/** Memory of a column outside linear memory: for chunks of one row, this is most of it. */
const ENTRY_BYTES = 160;
const WORD_BYTES = 8;
/** The rows [from, to) of a column. */
export type CachedRows = { readonly from: number; readonly to: number };

/**
 * `columnAt(i)` is called for each i below `columns`. It returns `undefined` for a column that is
 * missing.
 */
export type ChosenColumns = {
  readonly columns: number;
  readonly columnAt: (index: number) => CachedColumn | undefined;
};

export class ColumnCache {
  readonly #kernels: Kernels;
  readonly #slabsMax: number;
  readonly #slabs: Slab[] = [];
  /** A column at full width, before it becomes narrow. */
  readonly #decoded: KernelBuffer;
  /** Numbers of the rows chosen by `chooseRows`. */
  readonly #chosen: KernelBuffer;
  /** Index of the slab that is being filled. */
  #current = -1;

  /**
   * Uses at most `limitBytes`, entries included, in slabs of 256 KiB, but at least four of them.
   */
  constructor(kernels: Kernels, limitBytes: number) {
    this.#kernels = kernels;
    this.#decoded = new KernelBuffer(kernels);
    this.#chosen = new KernelBuffer(kernels);
    this.#slabsMax = Math.max(4, Math.floor(limitBytes / SLAB_BYTES));
  }

  get memoryBytes(): number {
    return this.#slabs.length * SLAB_BYTES;
  }

  get(entries: CacheEntries, key: number): CachedColumn | undefined {
    const column = entries.get(key);
    if (column !== undefined) column.slab.wasUsed = true;
    return column;
  }

  /**
   * Decodes a block of at most CACHED_ROWS_MAX values and caches it, without evicting `beside`.
   * Throws `CodecError`.
   */
  add(
    entries: CacheEntries,
    key: number,
    source: {
      readonly type: CachedType;
      readonly block: Uint8Array;
      readonly beside?: CachedColumn | undefined;
    },
  ): CachedColumn {
    const { exports } = this.#kernels;
    const { type, block, beside } = source;
    const input = this.#kernels.copyIn(Area.input, block);
    const count = checkResult(exports.startBlock(input, block.byteLength), type);
    assert(count <= CACHED_ROWS_MAX, 'only columns of chunks are kept');
    const decoded = this.#decoded.reserve(CACHED_HEADER_BYTES + count * 8);
    const sizeBytes = checkResult(exports.decodeForCache(VALUE_KINDS[type], count, decoded), type);
    const slab = this.#slabWith(sizeBytes, beside?.slab);
    const address = slab.address + slab.usedBytes;
    exports.storeCached(decoded, address);
    slab.usedBytes += sizeBytes;
    slab.contents.push({ entries, key });
    const column: CachedColumn = { type, count, address, slab };
    entries.set(key, column);
    return column;
  }

  /** Removes all columns from their owners' entries. */
  clear(): void {
    this.#slabs.forEach(empty);
  }

  /** Number of rows with a time below `time`. */
  rowsBefore(times: CachedColumn, time: bigint): number {
    return this.#kernels.exports.rowsBefore(times.address, time);
  }

  times(times: CachedColumn, rows: CachedRows): BigInt64Array {
    const { address, sizeBytes } = this.#expand(times, rows);
    // Copied as words: few of them cost a tenth of a buffer of their own.
    return this.#kernels.words.slice(address / WORD_BYTES, (address + sizeBytes) / WORD_BYTES);
  }

  /** Some rows as a column without nulls. */
  column(column: CachedColumn, rows: CachedRows): Column {
    const { address, sizeBytes } = this.#expand(column, rows);
    const buffer = this.#kernels.buffer.slice(address, address + sizeBytes);
    return columnOf(column.type, buffer, { at: 0, count: rows.to - rows.from });
  }

  /** Clears `mask[row - from]` where the comparison is false. */
  filterInPlace(
    mask: Uint8Array,
    column: CachedColumn,
    condition: ColumnCondition & { readonly rows: CachedRows },
  ): void {
    const { type } = column;
    const { rows } = condition;
    assert(type !== 'time' && mask.length === rows.to - rows.from, 'a mask of the rows of a field');
    const comparison = kernelComparison(type, condition);
    if (comparison.kind === 'none') mask.fill(0);
    if (comparison.kind !== 'compare') return;
    const { operation, flip, bound } = comparison;
    const masks = this.#kernels.copyIn(Area.mask, mask);
    const bits = type === 'float' ? floatBits(Number(bound)) : BigInt.asIntN(64, BigInt(bound));
    const isDone = this.#kernels.exports.filterCached(
      column.address,
      VALUE_KINDS[type],
      rows.from,
      rows.to,
      bits,
      operation,
      flip ? 1 : 0,
      masks,
    );
    if (isDone === 0) throw new Unavailable(EXHAUSTED);
    mask.set(this.#kernels.bytes.subarray(masks, masks + mask.length));
  }

  /**
   * Chooses the rows of [from, from + mask.length) that the mask keeps, for `chosenColumn` and
   * `chosenRun`. Returns their number.
   */
  chooseRows(mask: Uint8Array, from: number): number {
    const masks = this.#kernels.copyIn(Area.mask, mask);
    // One more: the kernel writes each row number before it checks the mask.
    const rows = this.#chosen.reserve((mask.length + 1) * 4);
    return this.#kernels.exports.rowsOfMask(masks, mask.length, from, rows);
  }

  /**
   * Times and columns of the `count` rows that `chooseRows` chose last, as views of one buffer: a
   * buffer per column costs more than its contents. `columnAt` may add columns to the cache.
   */
  chosenRun(
    times: CachedColumn,
    count: number,
    { columns, columnAt }: ChosenColumns,
  ): { readonly times: BigInt64Array; readonly columns: readonly (Column | undefined)[] } {
    const stepBytes = count * 8;
    const output = this.#kernels.scratch(Area.output, stepBytes * (columns + 1));
    const { exports } = this.#kernels;
    exports.gatherCached(times.address, this.#chosen.address, count, output);
    const types: (CachedType | undefined)[] = [];
    for (let i = 0; i < columns; i++) {
      const column = columnAt(i);
      types.push(column?.type);
      if (column === undefined) continue;
      exports.gatherCached(
        column.address,
        this.#chosen.address,
        count,
        output + stepBytes * (i + 1),
      );
    }
    const buffer = this.#kernels.buffer.slice(output, output + stepBytes * (columns + 1));
    return {
      times: new BigInt64Array(buffer, 0, count),
      columns: types.map((type, i) =>
        type === undefined ? undefined : columnOf(type, buffer, { at: stepBytes * (i + 1), count }),
      ),
    };
  }

  /** A column of the `count` rows that `chooseRows` chose last. */
  chosenColumn(column: CachedColumn, count: number): Column {
    return columnOf(column.type, this.#gather(column, count), { at: 0, count });
  }

  /** Writes the values of some rows to a scratch area. */
  #expand(
    column: CachedColumn,
    { from, to }: CachedRows,
  ): { readonly address: number; readonly sizeBytes: number } {
    assert(from <= to && to <= column.count, 'rows lie within the column');
    const sizeBytes = (to - from) * widthOf(column.type);
    const address = this.#kernels.scratch(Area.output, sizeBytes);
    this.#kernels.exports.expandCached(column.address, from, to, address);
    return { address, sizeBytes };
  }

  #gather(column: CachedColumn, count: number): ArrayBuffer {
    const sizeBytes = count * widthOf(column.type);
    const output = this.#kernels.scratch(Area.output, sizeBytes);
    this.#kernels.exports.gatherCached(column.address, this.#chosen.address, count, output);
    return this.#kernels.buffer.slice(output, output + sizeBytes);
  }

  #slabWith(sizeBytes: number, keep: Slab | undefined): Slab {
    const current = this.#slabs[this.#current];
    if (current !== undefined && hasRoom(current, sizeBytes)) return current;
    const next = this.#newSlab() ?? this.#oldSlab(keep);
    this.#current = this.#slabs.indexOf(next);
    return next;
  }

  #newSlab(): Slab | undefined {
    if (this.#slabs.length >= this.#slabsMax) return undefined;
    const address = this.#kernels.exports.allocatePages(SLAB_BYTES) >>> 0;
    // Linear memory is exhausted: the existing slabs have to suffice.
    if (address === 0 && this.#slabs.length > 1) return undefined;
    if (address === 0) throw new Unavailable(EXHAUSTED);
    const slab: Slab = { address, usedBytes: 0, wasUsed: false, contents: [] };
    this.#slabs.push(slab);
    return slab;
  }

  /** Empties the next slab that has not been used since the last round. */
  #oldSlab(keep: Slab | undefined): Slab {
    for (let i = this.#current + 1; ; i++) {
      const slab = this.#slabs[i % this.#slabs.length]!;
      if (slab === keep) continue;
      if (slab.wasUsed) {
        slab.wasUsed = false;
        continue;
      }
      empty(slab);
      return slab;
    }
  }
}

function empty(slab: Slab): void {
  for (const { entries, key } of slab.contents) {
    // The column may have been evicted and added again to another slab.
    if (entries.get(key)?.slab === slab) entries.delete(key);
  }
  slab.contents = [];
  slab.usedBytes = 0;
}

function hasRoom({ usedBytes, contents }: Slab, sizeBytes: number): boolean {
  return usedBytes + sizeBytes + contents.length * ENTRY_BYTES <= SLAB_BYTES;
}

function widthOf(type: CachedType): 1 | 8 {
  return type === 'boolean' ? 1 : 8;
}

function columnOf(
  type: CachedType,
  buffer: ArrayBuffer,
  { at, count }: { readonly at: number; readonly count: number },
): Column {
  const valid = undefined;
  switch (type) {
    case 'float':
      return { type, values: new Float64Array(buffer, at, count), valid };
    case 'unsigned':
      return { type, values: new BigUint64Array(buffer, at, count), valid };
    case 'boolean':
      return { type, values: new Uint8Array(buffer, at, count), valid };
    case 'integer':
    case 'time':
      return { type: 'integer', values: new BigInt64Array(buffer, at, count), valid };
  }
}
