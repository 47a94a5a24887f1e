// Encodes series with few rows as segments hold them, many in one call: of a series with one row
// the calls would cost ten times the work.
import { assert } from '@tidemark/core';
import type { Column } from '@tidemark/core';

import { Area, BLOCK_KINDS, SHORT_COLUMN, SHORT_COLUMN_BYTES } from './abi.gen.ts';
import { KernelRoom } from './kernel-room.ts';
import type { Kernels } from './loader.ts';

/** Rows of series that lie one behind the other. */
export type SeriesRows = {
  readonly ids: Uint32Array;
  /** Where the rows of each series end. */
  readonly ends: Uint32Array;
  readonly times: BigInt64Array;
  /** Columns of all rows; those of strings are not encoded here. */
  readonly columns: readonly { readonly field: number; readonly column: Column }[];
};

/** Views, valid until the next call of the kernel. */
export type EncodedSeries = {
  /** Index of the first series that was not encoded. */
  readonly next: number;
  readonly blocks: Uint8Array;
  readonly entries: Uint8Array;
  readonly minTime: bigint;
  readonly maxTime: bigint;
};

const BLOCKS_ROOM = 256 << 10;
const ENTRIES_ROOM = 64 << 10;
const COLUMN_WORDS = SHORT_COLUMN_BYTES / 4;
const KINDS = {
  integer: BLOCK_KINDS.integers,
  unsigned: BLOCK_KINDS.integers,
  float: BLOCK_KINDS.floats,
  boolean: BLOCK_KINDS.bits,
} as const;

/** What the entries of a directory say, in numbers that the format of segments has. */
export type EntryFormat = {
  /** Chunks with so many rows have statistics: their series are not short. */
  readonly statisticsRows: number;
  /** The flag of a column that has nulls. */
  readonly hasNulls: number;
};

/**
 * Encoder of one thread. Rows stay set until the next call of `setRows`; nothing may be awaited
 * meanwhile.
 */
export class ShortSeries {
  readonly #kernels: Kernels;
  readonly #rows: KernelRoom;
  #count = 0;

  constructor(kernels: Kernels, { statisticsRows, hasNulls }: EntryFormat) {
    this.#kernels = kernels;
    this.#rows = new KernelRoom(kernels);
    kernels.exports.setShortFormat(statisticsRows, hasNulls);
  }

  /**
   * Copies rows in. False when a column is one of strings: its series have to be encoded one by
   * one.
   */
  setRows({ ids, ends, times, columns }: SeriesRows): boolean {
    assert(ids.length === ends.length, 'each series has an end');
    if (columns.some(({ column }) => column.type === 'string')) return false;
    const kernels = this.#kernels;
    let sizeBytes = times.byteLength + ids.byteLength + ends.byteLength;
    for (const { column } of columns) sizeBytes += columnBytes(column) + COLUMN_WORDS * 4;
    let at = this.#rows.reserve(sizeBytes + ALIGNMENT * (columns.length * 2 + 4));
    const copy = (array: ArrayBufferView): number => {
      const address = at;
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      kernels.bytes.set(bytes, address);
      at = Math.ceil((address + bytes.length) / ALIGNMENT) * ALIGNMENT;
      return address;
    };
    const timesAt = copy(times);
    const records = new Uint32Array(columns.length * COLUMN_WORDS);
    columns.forEach(({ field, column }, i) => {
      if (column.type === 'string') return;
      const values = copy(column.values);
      const valid = column.valid === undefined ? 0 : copy(column.valid);
      const at = i * COLUMN_WORDS;
      records[at + SHORT_COLUMN.kind / 4] = KINDS[column.type];
      records[at + SHORT_COLUMN.field / 4] = field;
      records[at + SHORT_COLUMN.values / 4] = values;
      records[at + SHORT_COLUMN.valid / 4] = valid;
    });
    this.#count = ids.length;
    kernels.exports.setShortRows(copy(ids), copy(ends), timesAt, copy(records), columns.length);
    return true;
  }

  /**
   * Encodes series from `first` on, up to and with the one by which entries exceed `entriesWanted`
   * bytes. Ends before one with too many rows or whose times do not ascend, and when there is no
   * more room: call it until `next` stays.
   */
  encode(
    first: number,
    options: { readonly previousId: number; readonly entriesWanted: number },
  ): EncodedSeries {
    const kernels = this.#kernels;
    const { exports } = kernels;
    const blocksAt = kernels.scratch(Area.output, BLOCKS_ROOM);
    const entriesAt = kernels.scratch(Area.entries, ENTRIES_ROOM);
    const next = exports.writeShortSeries(
      first,
      this.#count,
      options.previousId,
      blocksAt,
      BLOCKS_ROOM,
      entriesAt,
      ENTRIES_ROOM,
      options.entriesWanted,
    );
    const { bytes } = kernels;
    return {
      next: next >>> 0,
      blocks: bytes.subarray(blocksAt, blocksAt + exports.shortBlockBytes()),
      entries: bytes.subarray(entriesAt, entriesAt + exports.shortEntryBytes()),
      minTime: exports.shortMinTime(),
      maxTime: exports.shortMaxTime(),
    };
  }
}

const ALIGNMENT = 8;

function columnBytes(column: Column): number {
  const values = column.type === 'string' ? column.codes : column.values;
  return values.byteLength + (column.valid?.byteLength ?? 0);
}
