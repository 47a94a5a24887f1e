// After a failed sync, pages can be read but may never reach the disk, and later syncs do not
// report that: their contents have to be written again.
import { Corruption } from '@tidemark/core';

import type { DiskFile } from './disk.ts';

const PIECE_BYTES = 1 << 20;

/**
 * Writes the bytes in `[from, to)` again in place, so that the next sync includes them. Throws
 * `Corruption` when some are missing.
 */
export function writeAgain(file: DiskFile, from: number, to: number): void {
  for (let at = from; at < to; at += PIECE_BYTES) {
    const piece = new Uint8Array(Math.min(PIECE_BYTES, to - at));
    if (file.read(piece, at) !== piece.length) {
      throw new Corruption('file is shorter than it was', { file: file.path, offset: at });
    }
    file.write(piece, at);
  }
}
