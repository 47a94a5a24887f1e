// A table of a batch in linear memory, with rows in the order of arrival. It can be copied, or
// encoded as blocks.
import { NO_TEXTS, Unavailable } from '@tidemark/core';
import type { Column, FieldType, Texts, Timestamp } from '@tidemark/core';

import { Area, BLOCK_KINDS, EFFORTS, NO_ID, REFERENCE, REFERENCE_BYTES } from './abi.gen.ts';
import { checkResult } from './codec-error.ts';
import { columnType } from './field-codes.ts';
import type { RowMemory, BufferPart } from './row-buffers.ts';
import type { Kernels } from './loader.ts';
import type { Names } from './names.ts';

/** A column with at least one value in the batch. */
export type StagedField = {
  readonly name: string;
  readonly type: FieldType;
  /** Address of the values, one per row. */
  readonly values: number;
  /** Address of a byte per row; 0 when all rows have a value. */
  readonly valid: number;
};

export type StagedRows = {
  readonly seriesIds: Uint32Array;
  readonly times: BigInt64Array;
  /** In the order of `fields`; none for a sparse table. */
  readonly columns: readonly Column[];
  /** The values of a sparse table. */
  readonly sparse: StagedValues | undefined;
};

/** Rows [from, to) of a table. */
export type RowRange = { readonly from: number; readonly to: number };

/** Values of rows, row by row. A row has at most one value of a field. */
export type StagedValues = {
  readonly fields: readonly { readonly name: string; readonly type: FieldType }[];
  /** Index of the field of each value. */
  readonly fieldOf: Uint32Array;
  /** Two words per value, the low one first. Strings have codes of `texts`. */
  readonly words: Uint32Array;
  /** Number of values up to the end of each row. */
  readonly ends: Uint32Array;
  readonly texts: Texts;
};

const REFERENCE_WORDS = REFERENCE_BYTES / 4;
/** Room for encoded columns of a sparse table at first. */
const SPARSE_ROOM_BYTES = 1 << 20;

/** Rows of one measurement in one shard. Valid until the next call to the `Ingest` that made it. */
export class StagedTable {
  readonly shardId: number;
  readonly measurement: string;
  readonly rowCount: number;
  readonly minTime: Timestamp;
  readonly maxTime: Timestamp;
  /** Whether rows have few of many fields: then values are read and encoded together. */
  readonly isSparse: boolean;
  /** None for a sparse table. */
  readonly fields: readonly StagedField[];
  readonly #kernels: Kernels;
  readonly #names: Names;
  readonly #address: number;

  constructor(kernels: Kernels, names: Names, address: number) {
    const { exports } = kernels;
    if (exports.finishTable(address) === 0) throw new Unavailable('kernel memory is exhausted');
    this.#kernels = kernels;
    this.#names = names;
    this.#address = address;
    const measurement = exports.tableMeasurement(address);
    this.shardId = exports.tableShard(address);
    this.measurement = names.measurement(measurement);
    this.rowCount = exports.tableRows(address);
    this.minTime = exports.tableMinTime(address);
    this.maxTime = exports.tableMaxTime(address);
    const fields: StagedField[] = [];
    this.isSparse = exports.tableIsSparse(address) === 1;
    const columns = this.isSparse ? 0 : exports.tableColumns(address);
    for (let i = 0; i < columns; i++) {
      const values = exports.columnValues(address, i) >>> 0;
      if (values === 0) continue;
      const name = names.field(measurement, exports.columnField(address, i));
      const valid = exports.columnValid(address, i) >>> 0;
      fields.push({ name, type: columnType(exports.columnType(address, i)), values, valid });
    }
    this.fields = fields;
  }

  /**
   * Copies the rows to a part of a buffer, which belongs to the caller. They are ordered by series
   * if that costs little, and rows of a series in the order of arrival: readers go series by
   * series.
   */
  copyRows(memory: RowMemory): StagedRows {
    const { rowCount } = this;
    const { exports } = this.#kernels;
    const order = exports.openRowOrder(exports.tableSeries(this.#address), rowCount) >>> 0;
    try {
      return this.#copyRows(memory, order);
    } finally {
      if (order !== 0) exports.closeRowOrder(order);
    }
  }

  /** `order` is the address of row numbers in the wanted order; 0 keeps the order of arrival. */
  #copyRows(memory: RowMemory, order: number): StagedRows {
    const { rowCount } = this;
    const { exports } = this.#kernels;
    const strings = this.fields.map((field) =>
      field.type === 'string' ? this.#codeTexts(field.values, order) : undefined,
    );
    const copier = new ArrayCopier(this.#kernels, memory.take(this.#copiedBytes()), order);
    const times = copier.copy(BigInt64Array, exports.tableTimes(this.#address), rowCount);
    const columns = this.fields.map((field, i): Column => {
      const valid = field.valid === 0 ? undefined : copier.copy(Uint8Array, field.valid, rowCount);
      switch (field.type) {
        case 'float':
          return {
            type: field.type,
            values: copier.copy(Float64Array, field.values, rowCount),
            valid,
          };
        case 'integer':
          return {
            type: field.type,
            values: copier.copy(BigInt64Array, field.values, rowCount),
            valid,
          };
        case 'unsigned':
          return {
            type: field.type,
            values: copier.copy(BigUint64Array, field.values, rowCount),
            valid,
          };
        case 'boolean':
          return {
            type: field.type,
            values: copier.copy(Uint8Array, field.values, rowCount),
            valid,
          };
        case 'string':
          return { type: field.type, ...strings[i]!, valid };
      }
    });
    const seriesIds = copier.copy(Uint32Array, exports.tableSeries(this.#address), rowCount);
    const sparse = this.isSparse ? this.#copyValues(order) : undefined;
    return { seriesIds, times, columns, sparse };
  }

  #copyValues(order: number): StagedValues {
    const { exports } = this.#kernels;
    const opened = exports.openSparseRows(this.#address, order) >>> 0;
    if (opened === 0) throw new Unavailable('kernel memory is exhausted');
    const take = (at: number, count: number): Uint32Array =>
      new Uint32Array(this.#kernels.buffer, at, count).slice();
    const count = exports.tableValues(this.#address);
    const [fieldCount = 0] = take(opened, 1);
    const words = take(opened + 8, 2 * count);
    const fieldOf = take(opened + 8 + 8 * count, count);
    const ends = take(opened + 8 + 12 * count, this.rowCount);
    const columns = take(opened + 8 + 12 * count + 4 * this.rowCount, 2 * fieldCount);
    exports.closeSparseRows(opened);
    const measurement = exports.tableMeasurement(this.#address);
    const fields: { readonly name: string; readonly type: FieldType }[] = [];
    for (let i = 0; i < columns.length; i += 2) {
      const name = this.#names.field(measurement, columns[i]!);
      fields.push({ name, type: columnType(columns[i + 1]!) });
    }
    const texts = fields.some(({ type }) => type === 'string')
      ? this.#codeWords(words, (at) => fields[fieldOf[at]!]!.type === 'string')
      : NO_TEXTS;
    return { fields, fieldOf, words, ends, texts };
  }

  /** Replaces references to texts by codes of the texts that it returns. */
  #codeWords(words: Uint32Array, isText: (at: number) => boolean): Texts {
    const places: number[] = [];
    for (let at = 0; at < words.length / 2; at++) if (isText(at)) places.push(at);
    const references = new Uint32Array(places.length * REFERENCE_WORDS);
    places.forEach((at, i) => {
      references[2 * i] = words[2 * at]!;
      references[2 * i + 1] = words[2 * at + 1]!;
    });
    const bytes = new Uint8Array(references.buffer);
    const address = this.#kernels.copyIn(Area.references, bytes);
    const { codes, texts } = this.#codeTexts(address, 0, places.length);
    places.forEach((at, i) => {
      words[2 * at] = codes[i]!;
      words[2 * at + 1] = 0;
    });
    return texts;
  }

  /**
   * Encodes the columns of some rows of a sparse table, as a record of the log has them. `take` is
   * given views of parts, which it has to copy.
   */
  encodeColumns({ from, to }: RowRange, take: (bytes: Uint8Array) => void): void {
    const kernels = this.#kernels;
    const { exports } = kernels;
    let room = SPARSE_ROOM_BYTES;
    for (let column = 0, count = 1; column < count;) {
      const output = kernels.scratch(Area.output, room);
      const address = this.#address;
      const next = exports.encodeSparseColumns(address, from, to, column, output, room) >>> 0;
      if (next === NO_ID) throw new Unavailable('kernel memory is exhausted');
      if (next === column) room *= 2;
      else take(kernels.bytes.subarray(output, output + exports.sparseEncodedBytes()));
      column = next;
      count = exports.sparseColumnCount();
    }
  }

  /**
   * Encodes the series ids of the rows. The block is a view, valid until the next call into this
   * instance; so are those of the methods below.
   */
  encodeSeriesIds({ from, to }: RowRange): Uint8Array {
    const output = this.#output();
    const { exports } = this.#kernels;
    const source = exports.tableSeries(this.#address) + from * 4;
    const size = exports.encodeIds(source, to - from, output, EFFORTS.fast);
    if (size === 0) throw new Unavailable('kernel memory is exhausted');
    return this.#kernels.bytes.subarray(output, output + size);
  }

  encodeTimes({ from, to }: RowRange): Uint8Array {
    const source = this.#kernels.exports.tableTimes(this.#address) + from * 8;
    return this.#encode(BLOCK_KINDS.integers, source, to - from);
  }

  encodeValidity(field: StagedField): Uint8Array {
    return this.#encode(BLOCK_KINDS.bits, field.valid);
  }

  /** Encodes the values of a field for all rows; nulls become zeros. */
  encodeValues(field: StagedField): Uint8Array {
    switch (field.type) {
      case 'float':
        return this.#encode(BLOCK_KINDS.floats, field.values);
      case 'integer':
      case 'unsigned':
        return this.#encode(BLOCK_KINDS.integers, field.values);
      case 'boolean':
        return this.#encode(BLOCK_KINDS.bits, field.values);
      case 'string':
        return this.#encodeStrings(field.values);
    }
  }

  #encode(kind: number, source: number, count = this.rowCount): Uint8Array {
    const output = this.#output();
    const { exports } = this.#kernels;
    const size = exports.encodeBlock(kind, source, count, output, EFFORTS.fast);
    return this.#kernels.bytes.subarray(output, output + size);
  }

  #output(): number {
    const { exports } = this.#kernels;
    return this.#kernels.scratch(Area.output, exports.blockBound(this.rowCount));
  }

  #encodeStrings(references: number): Uint8Array {
    const kernels = this.#kernels;
    const words = new Uint32Array(kernels.buffer, references, this.rowCount * REFERENCE_WORDS);
    let textBytes = 0;
    for (let i = REFERENCE.length / 4; i < words.length; i += REFERENCE_WORDS) {
      textBytes += words[i]!;
    }
    const bound = kernels.exports.stringsBound(this.rowCount, textBytes);
    const output = kernels.scratch(Area.output, bound);
    const size = checkResult(
      kernels.exports.encodeStringBlock(references, this.rowCount, output, EFFORTS.fast),
      'strings',
    );
    return kernels.bytes.subarray(output, output + size);
  }

  /** Copies texts out of the arena of the batch, equal ones once. */
  #codeTexts(
    references: number,
    order: number,
    count = this.rowCount,
  ): { readonly codes: Uint32Array; readonly texts: Texts } {
    const kernels = this.#kernels;
    const { exports } = kernels;
    const distinct = checkResult(exports.codeStrings(references, count), 'strings');
    const part = { buffer: new ArrayBuffer(count * 4), offset: 0 };
    const codesAt = exports.stringCodes();
    const codes = new ArrayCopier(kernels, part, order).copy(Uint32Array, codesAt, count);
    if (exports.gatherStrings() === 0) throw new Unavailable('kernel memory is exhausted');
    const offsetsAt = exports.stringOffsets() >>> 0;
    const offsets = new Uint32Array(kernels.buffer, offsetsAt, distinct + 1).slice();
    const textsAt = exports.stringBytes() >>> 0;
    const bytes = kernels.bytes.slice(textsAt, textsAt + offsets[distinct]!);
    return { codes, texts: { bytes, offsets } };
  }

  #copiedBytes(): number {
    const { rowCount } = this;
    let bytes = rowCount * 12 + 8;
    for (const { type, valid } of this.fields) {
      if (type !== 'string') bytes += rowCount * (type === 'boolean' ? 1 : 8) + 8;
      if (valid !== 0) bytes += rowCount + 8;
    }
    return bytes;
  }
}

type ArrayKind<T> = {
  new (buffer: ArrayBuffer, offset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
};

/** Copies arrays from linear memory into one part of a buffer, one after another. */
class ArrayCopier {
  readonly #kernels: Kernels;
  readonly #order: number;
  readonly #buffer: ArrayBuffer;
  readonly #bytes: Uint8Array;
  #used: number;

  /** `order` is the address of row numbers in the wanted order; 0 keeps the order of arrival. */
  constructor(kernels: Kernels, { buffer, offset }: BufferPart, order: number) {
    this.#kernels = kernels;
    this.#order = order;
    this.#buffer = buffer;
    this.#bytes = new Uint8Array(buffer);
    this.#used = offset;
  }

  copy<T>(kind: ArrayKind<T>, address: number, count: number): T {
    const at = (this.#used + 7) & ~7;
    const width = kind.BYTES_PER_ELEMENT;
    const sizeBytes = count * width;
    let from = address >>> 0;
    if (this.#order !== 0) {
      const gathered = this.#kernels.scratch(Area.output, sizeBytes);
      this.#kernels.exports.gatherRows(this.#order, count, from, width, gathered);
      from = gathered;
    }
    this.#bytes.set(this.#kernels.bytes.subarray(from, from + sizeBytes), at);
    this.#used = at + sizeBytes;
    return new kind(this.#buffer, at, count);
  }
}
