// A sync that failed leaves pages that can be read and never reach the disk, and later syncs say
// nothing of them: what they hold has to be written once more.
import { Corruption } from '@tidemark/core';

import type { DiskFile } from './disk.ts';

const PIECE_BYTES = 1 << 20;

/**
 * Writes the bytes in `[from, to)` to their place again, so that the next sync takes them. Throws
 * `Corruption` when they are not all there.
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
