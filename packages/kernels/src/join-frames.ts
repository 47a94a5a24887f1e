// Joins blocks of texts in frames by copying their frames, as compaction does: only the head is
// made again. Format: docs/formats/encodings.md, "Strings".
import { Area, BLOCK_KINDS, EFFORTS, STRING_ENCODINGS } from './abi.gen.ts';
import type { Kernels } from './loader.ts';

/** Numbers of each frame, and where the last one ends. */
type FrameTables = {
  /** The first row. */
  readonly rows: Uint32Array;
  /** Where its texts, its packed bytes and its filter begin among those of the block. */
  readonly texts: Uint32Array;
  readonly packed: Uint32Array;
  readonly filters: Uint32Array;
  /** One for each frame. */
  readonly checksums: Uint32Array;
};

/** Where the frames of a block are. */
export type OpenFrames = {
  /** Of texts. */
  readonly count: number;
  readonly tables: FrameTables;
  /** Where the filters and the frames begin in the block; the same place in old blocks. */
  readonly filtersAt: number;
  readonly framesAt: number;
};

export type FramedBlock = OpenFrames & { readonly block: Uint8Array };

/** Whether the frames have their own lengths and filters. */
export function canJoin({ filtersAt, framesAt }: OpenFrames): boolean {
  return framesAt > filtersAt;
}

/** One block with the frames of all. */
export function joinedBlock(kernels: Kernels, parts: readonly FramedBlock[]): Uint8Array {
  const sizes = (table: keyof Omit<FrameTables, 'checksums'>): Uint8Array =>
    integersBody(
      kernels,
      parts.flatMap(({ tables }) => differences(tables[table])),
    );
  const frames = parts.reduce((count, { tables }) => count + tables.checksums.length, 0);
  const filters = joined(
    parts.map((part) => part.block.subarray(part.filtersAt, part.framesAt - CHECKSUM_BYTES)),
  );
  const start = Uint8Array.from([
    ...varint(parts.reduce((count, part) => count + part.count, 0)),
    STRING_ENCODINGS.frames,
  ]);
  const tables = joined([
    Uint8Array.from(varint(frames)),
    ...(['rows', 'texts', 'packed', 'filters'] as const).map(sizes),
    ...parts.map((part) => bytesOf(part.tables.checksums)),
  ]);
  const headBytes = start.length + 4 + tables.length + CHECKSUM_BYTES;
  const head = joined([start, bytesOf(Uint32Array.of(headBytes)), tables]);
  return joined([
    head,
    checksum(kernels, head),
    filters,
    checksum(kernels, filters),
    ...parts.map(({ block, framesAt }) => block.subarray(framesAt)),
  ]);
}

const CHECKSUM_BYTES = 4;

function differences(starts: Uint32Array): number[] {
  return Array.from(starts.subarray(1), (end, i) => end - starts[i]!);
}

/** A sequence of integers without their number, which stands first in a block. */
function integersBody(kernels: Kernels, values: readonly number[]): Uint8Array {
  const input = kernels.copyIn(Area.input, BigInt64Array.from(values, BigInt));
  const count = values.length;
  const output = kernels.scratch(Area.output, kernels.exports.blockBound(count));
  const size = kernels.exports.encodeBlock(
    BLOCK_KINDS.integers,
    input,
    count,
    output,
    EFFORTS.small,
  );
  return kernels.bytes.slice(output + varint(count).length, output + size);
}

function checksum(kernels: Kernels, bytes: Uint8Array): Uint8Array {
  const input = kernels.copyIn(Area.input, bytes);
  return bytesOf(Uint32Array.of(kernels.exports.crc32c(input, bytes.length, 0)));
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  bytes.push(left);
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
