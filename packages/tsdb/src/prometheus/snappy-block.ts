// A block of snappy, piece by piece: the length of everything, then elements, none of which refers
// to data of another piece.
// https://github.com/google/snappy/blob/main/format_description.txt
import { compressSync } from 'snappy';

/** Data that is packed together: progress in writing it shows whether the client reads. */
const PIECE_BYTES = 256 << 10;

/** The block with the data of all parts, which have `length` bytes together. */
export function* snappyBlock(
  length: number,
  parts: Iterable<Uint8Array>,
): Generator<Buffer, void, undefined> {
  const header: number[] = [];
  let rest = length;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) header.push((rest & 0x7f) | 0x80);
  yield Buffer.of(...header, rest);
  const piece = Buffer.alloc(Math.min(length, PIECE_BYTES));
  let filled = 0;
  for (const part of parts) {
    for (let from = 0; from < part.length;) {
      const to = Math.min(part.length, from + piece.length - filled);
      piece.set(part.subarray(from, to), filled);
      filled += to - from;
      from = to;
      if (filled < piece.length) continue;
      yield elementsOf(piece);
      filled = 0;
    }
  }
  if (filled > 0) yield elementsOf(piece.subarray(0, filled));
}

/**
 * A block without its length. Packed in this thread: `compress` of snappy 7.4 never frees its
 * results (48 calls of 20 MB left 840 MiB).
 */
function elementsOf(data: Buffer): Buffer {
  const block = compressSync(data);
  let at = 0;
  while (block[at]! > 0x7f) at++;
  return block.subarray(at + 1);
}
