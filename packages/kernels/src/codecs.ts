// Typed codecs over typed arrays. Every block contains its encoding and its count
// (docs/formats/encodings.md).
//
// Input is copied into linear memory, and the result is copied out once; results belong to the
// caller. Decoders throw `CodecError`, and nothing else, for bytes that no encoder wrote.
import { Unavailable } from '@tidemark/core';
import type { Column, FieldType } from '@tidemark/core';
import { Area, BLOCK_KINDS, EFFORTS } from './abi.gen.ts';
import { checkCount } from './block-values.ts';
import type { CodecEffort } from './block-values.ts';
import { checkResult, CodecError } from './codec-error.ts';
import { Kernels } from './loader.ts';
import { encodeSingle } from './single-value.ts';
import type { BlockKind } from './single-value.ts';
import { TextCodec } from './text-codec.ts';

/** Codecs over one instance of the kernels, used by one thread. */
export class Codecs {
  readonly texts: TextCodec;
  readonly #kernels: Kernels;

  constructor(kernels: Kernels = new Kernels()) {
    this.#kernels = kernels;
    this.texts = new TextCodec(kernels);
  }

  /** Size of the linear memory. */
  get memoryBytes(): number {
    return this.#kernels.memoryBytes;
  }

  encodeTimes(times: BigInt64Array, effort: CodecEffort = 'fast'): Uint8Array {
    return this.#encode(BLOCK_KINDS.integers, times, effort);
  }

  decodeTimes(block: Uint8Array): BigInt64Array {
    return this.decodeIntegers(block);
  }

  encodeIntegers(values: BigInt64Array, effort: CodecEffort = 'fast'): Uint8Array {
    return this.#encode(BLOCK_KINDS.integers, values, effort);
  }

  decodeIntegers(block: Uint8Array): BigInt64Array {
    return new BigInt64Array(this.#decode(BLOCK_KINDS.integers, block, 8, 'integers'));
  }

  /** The same block as `encodeIntegers` of these numbers. */
  encodeIds(ids: Uint32Array, effort: CodecEffort = 'fast'): Uint8Array {
    const count = checkCount(ids.length);
    const kernels = this.#kernels;
    const input = kernels.copyIn(Area.input, ids);
    const output = kernels.scratch(Area.output, kernels.exports.blockBound(count));
    const size = kernels.exports.encodeIds(input, count, output, EFFORTS[effort]);
    if (size === 0) throw new Unavailable(`kernel memory is exhausted. values=${count}`);
    return kernels.bytes.slice(output, output + size);
  }

  /** Reads `encodeIds`. */
  decodeIds(block: Uint8Array): Uint32Array {
    // Read as words: a bigint for each id takes ten times as long.
    const words = new Uint32Array(this.#decode(BLOCK_KINDS.integers, block, 8, 'ids'));
    const ids = new Uint32Array(words.length / 2);
    for (let i = 0; i < ids.length; i++) {
      if (words[2 * i + 1] !== 0) throw new CodecError('value', 'ids');
      ids[i] = words[2 * i]!;
    }
    return ids;
  }

  encodeUnsigneds(values: BigUint64Array, effort: CodecEffort = 'fast'): Uint8Array {
    return this.#encode(BLOCK_KINDS.integers, values, effort);
  }

  decodeUnsigneds(block: Uint8Array): BigUint64Array {
    return new BigUint64Array(this.#decode(BLOCK_KINDS.integers, block, 8, 'unsigneds'));
  }

  /** Floats are restored bit by bit: −0, subnormals, infinities, and payloads of NaN. */
  encodeFloats(values: Float64Array, effort: CodecEffort = 'fast'): Uint8Array {
    return this.#encode(BLOCK_KINDS.floats, values, effort);
  }

  decodeFloats(block: Uint8Array): Float64Array {
    return new Float64Array(this.#decode(BLOCK_KINDS.floats, block, 8, 'floats'));
  }

  /** Every byte except 0 counts as 1. */
  encodeBooleans(values: Uint8Array): Uint8Array {
    return this.#encode(BLOCK_KINDS.bits, values, 'fast');
  }

  /** Returns bytes of 0 and 1. */
  decodeBooleans(block: Uint8Array): Uint8Array {
    return new Uint8Array(this.#decode(BLOCK_KINDS.bits, block, 1, 'booleans'));
  }

  /** The same format as booleans. If all rows are valid, it takes a few bytes. */
  encodeValidity(valid: Uint8Array): Uint8Array {
    return this.encodeBooleans(valid);
  }

  decodeValidity(block: Uint8Array): Uint8Array {
    return this.decodeBooleans(block);
  }

  /** Encodes the values of a column of any type, without its validity. */
  encodeColumn(column: Column, effort: CodecEffort = 'fast'): Uint8Array {
    switch (column.type) {
      case 'float':
        return this.encodeFloats(column.values, effort);
      case 'integer':
        return this.encodeIntegers(column.values, effort);
      case 'unsigned':
        return this.encodeUnsigneds(column.values, effort);
      case 'boolean':
        return this.encodeBooleans(column.values);
      case 'string':
        return this.texts.encode(column, effort);
    }
  }

  /** The inverse of `encodeColumn`. `valid` becomes the validity of the column. */
  decodeColumn(type: FieldType, block: Uint8Array, valid?: Uint8Array): Column {
    switch (type) {
      case 'float':
        return { type, values: this.decodeFloats(block), valid };
      case 'integer':
        return { type, values: this.decodeIntegers(block), valid };
      case 'unsigned':
        return { type, values: this.decodeUnsigneds(block), valid };
      case 'boolean':
        return { type, values: this.decodeBooleans(block), valid };
      case 'string':
        return { type, ...this.texts.decode(block), valid };
    }
  }

  /** CRC-32C of `bytes`, continuing `crc`. */
  crc32c(bytes: Uint8Array, crc = 0): number {
    // In portions, so that a large file needs no large buffer.
    let value = crc;
    for (let from = 0; from < bytes.length; from += CRC_PIECE_BYTES) {
      const piece = bytes.subarray(from, from + CRC_PIECE_BYTES);
      const input = this.#kernels.copyIn(Area.input, piece);
      value = this.#kernels.exports.crc32c(input, piece.length, value);
    }
    return value >>> 0;
  }

  #encode(
    kind: BlockKind,
    values: BigInt64Array | BigUint64Array | Float64Array | Uint8Array,
    effort: CodecEffort,
  ): Uint8Array {
    const count = checkCount(values.length);
    if (count === 1 && kind !== BLOCK_KINDS.bits) return encodeSingle(kind, values);
    const kernels = this.#kernels;
    const input = kernels.copyIn(Area.input, values);
    const output = kernels.scratch(Area.output, kernels.exports.blockBound(count));
    const size = kernels.exports.encodeBlock(kind, input, count, output, EFFORTS[effort]);
    return kernels.bytes.slice(output, output + size);
  }

  #decode(kind: BlockKind, block: Uint8Array, width: 1 | 8, what: string): ArrayBuffer {
    const kernels = this.#kernels;
    const input = kernels.copyIn(Area.input, block);
    const count = checkResult(kernels.exports.startBlock(input, block.byteLength), what);
    const output = kernels.scratch(Area.output, count * width);
    checkResult(kernels.exports.finishBlock(kind, count, output), what);
    return kernels.bytes.slice(output, output + count * width).buffer as ArrayBuffer;
  }
}

const CRC_PIECE_BYTES = 1 << 18;
