// One table of a batch: its rows in linear memory, in arrival order, as copies or as encoded
// blocks.
import { Unavailable } from '@tidemark/core';
import type { Column, FieldType, Timestamp } from '@tidemark/core';

import { checkResult } from './codec-error.ts';
import { fieldTypeOf } from './field-codes.ts';
import type { RoomPart, RowRoom } from './row-room.ts';
import type { Kernels } from './loader.ts';
import type { Names } from './names.ts';

/** A column with at least one value in the batch. */
export type StagedField = {
  readonly name: string;
  readonly type: FieldType;
  /** Address of the values, one per row. */
  readonly values: number;
  /** Address of a byte per row; 0 when every row has a value. */
  readonly valid: number;
};

export type StagedRows = {
  readonly seriesIds: Uint32Array;
  readonly times: BigInt64Array;
  /** As `fields`. */
  readonly columns: readonly Column[];
};

// In step with assembly/blocks.ts.
const KIND_INTS = 0;
const KIND_FLOATS = 1;
const KIND_BITS = 2;
const FAST = 0;
const SCRATCH_OUTPUT = 1;

/** Rows of one measurement in one shard. Valid until the next call to the `Ingest` that made it. */
export class StagedTable {
  readonly shardId: number;
  readonly measurement: string;
  readonly rowCount: number;
  readonly minTime: Timestamp;
  readonly maxTime: Timestamp;
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
    for (let i = 0; i < exports.tableColumns(address); i++) {
      const values = exports.columnValues(address, i) >>> 0;
      if (values === 0) continue;
      const name = names.field(measurement, exports.columnField(address, i));
      const valid = exports.columnValid(address, i) >>> 0;
      fields.push({ name, type: columnType(exports.columnType(address, i)), values, valid });
    }
    this.fields = fields;
  }

  /**
   * The rows, in a part of a buffer that belongs to the caller: by series where that costs little,
   * those of a series in arrival order. Whoever reads them goes series by series, and finds
   * neighbours beside each other.
   */
  copyRows(room: RowRoom): StagedRows {
    const { rowCount } = this;
    const { exports } = this.#kernels;
    const order = exports.orderRows(exports.tableSeries(this.#address), rowCount) >>> 0;
    const strings = this.fields.map((field) =>
      field.type === 'string' ? this.#strings(field.values, order) : undefined,
    );
    const slab = new Slab(this.#kernels, room.take(this.#slabBytes()), order);
    const times = slab.view(BigInt64Array, exports.tableTimes(this.#address), rowCount);
    const columns = this.fields.map((field, i): Column => {
      const valid = field.valid === 0 ? undefined : slab.view(Uint8Array, field.valid, rowCount);
      switch (field.type) {
        case 'float':
          return {
            type: field.type,
            values: slab.view(Float64Array, field.values, rowCount),
            valid,
          };
        case 'integer':
          return {
            type: field.type,
            values: slab.view(BigInt64Array, field.values, rowCount),
            valid,
          };
        case 'unsigned':
          return {
            type: field.type,
            values: slab.view(BigUint64Array, field.values, rowCount),
            valid,
          };
        case 'boolean':
          return { type: field.type, values: slab.view(Uint8Array, field.values, rowCount), valid };
        case 'string':
          return { type: field.type, ...strings[i]!, valid };
      }
    });
    const seriesIds = slab.view(Uint32Array, exports.tableSeries(this.#address), rowCount);
    return { seriesIds, times, columns };
  }

  /**
   * Block of the rows' series ids. A view, like those below: valid until the next call into this
   * instance.
   */
  encodeSeriesIds(): Uint8Array {
    const output = this.#output();
    const { exports } = this.#kernels;
    const source = exports.tableSeries(this.#address);
    const size = exports.encodeIds(source, this.rowCount, output, FAST);
    if (size === 0) throw new Unavailable('kernel memory is exhausted');
    return this.#kernels.bytes.subarray(output, output + size);
  }

  encodeTimes(): Uint8Array {
    return this.#encode(KIND_INTS, this.#kernels.exports.tableTimes(this.#address));
  }

  encodeValidity(field: StagedField): Uint8Array {
    return this.#encode(KIND_BITS, field.valid);
  }

  /** All rows of the field; nulls as zeros. */
  encodeValues(field: StagedField): Uint8Array {
    switch (field.type) {
      case 'float':
        return this.#encode(KIND_FLOATS, field.values);
      case 'integer':
      case 'unsigned':
        return this.#encode(KIND_INTS, field.values);
      case 'boolean':
        return this.#encode(KIND_BITS, field.values);
      case 'string':
        return this.#encodeStrings(field.values);
    }
  }

  #encode(kind: number, source: number): Uint8Array {
    const output = this.#output();
    const { exports } = this.#kernels;
    const size = exports.encodeBlock(kind, source, this.rowCount, output, FAST);
    return this.#kernels.bytes.subarray(output, output + size);
  }

  #output(): number {
    const { exports } = this.#kernels;
    return this.#kernels.scratch(SCRATCH_OUTPUT, exports.blockBound(this.rowCount));
  }

  #encodeStrings(references: number): Uint8Array {
    const kernels = this.#kernels;
    const words = new Uint32Array(kernels.buffer, references, this.rowCount * 2);
    let textBytes = 0;
    for (let i = 1; i < words.length; i += 2) textBytes += words[i]!;
    const bound = kernels.exports.stringsBound(this.rowCount, textBytes);
    const output = kernels.scratch(SCRATCH_OUTPUT, bound);
    const size = checkResult(
      kernels.exports.encodeStringBlock(references, this.rowCount, output, FAST),
      'strings',
    );
    return kernels.bytes.subarray(output, output + size);
  }

  #strings(references: number, order: number): { codes: Uint32Array; dictionary: string[] } {
    const kernels = this.#kernels;
    const { exports } = kernels;
    const count = checkResult(exports.codeStrings(references, this.rowCount), 'strings');
    const part = { buffer: new ArrayBuffer(this.rowCount * 4), offset: 0 };
    const codesAt = exports.stringCodes();
    const codes = new Slab(kernels, part, order).view(Uint32Array, codesAt, this.rowCount);
    const entries = new Uint32Array(kernels.buffer, exports.stringReferences() >>> 0, count * 2);
    const { bytes } = kernels;
    const dictionary: string[] = [];
    for (let i = 0; i < count; i++) {
      const start = entries[2 * i]!;
      dictionary.push(this.#names.decode(bytes.subarray(start, start + entries[2 * i + 1]!)));
    }
    return { codes, dictionary };
  }

  #slabBytes(): number {
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

/** Copies out of linear memory, one behind the other in one part of a buffer. */
class Slab {
  readonly #kernels: Kernels;
  readonly #order: number;
  readonly #buffer: ArrayBuffer;
  readonly #bytes: Uint8Array;
  #used: number;

  /** `order` is the address of the row numbers in the order wanted; 0 takes rows as they are. */
  constructor(kernels: Kernels, { buffer, offset }: RoomPart, order: number) {
    this.#kernels = kernels;
    this.#order = order;
    this.#buffer = buffer;
    this.#bytes = new Uint8Array(buffer);
    this.#used = offset;
  }

  view<T>(kind: ArrayKind<T>, address: number, count: number): T {
    const at = (this.#used + 7) & ~7;
    const width = kind.BYTES_PER_ELEMENT;
    const sizeBytes = count * width;
    let from = address >>> 0;
    if (this.#order !== 0) {
      const gathered = this.#kernels.scratch(SCRATCH_OUTPUT, sizeBytes);
      this.#kernels.exports.gatherRows(this.#order, count, from, width, gathered);
      from = gathered;
    }
    this.#bytes.set(this.#kernels.bytes.subarray(from, from + sizeBytes), at);
    this.#used = at + sizeBytes;
    return new kind(this.#buffer, at, count);
  }
}

/** The type of a number that the kernels gave. */
export function columnType(code: number): FieldType {
  const type = fieldTypeOf(code);
  if (type === undefined) throw new Error('columns in linear memory have one of the five types');
  return type;
}
