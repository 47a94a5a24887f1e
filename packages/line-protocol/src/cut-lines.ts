// Cuts a body between lines into pieces that are valid bodies themselves.
import { InvalidRequest } from '@tidemark/core';

import { LineSplitter } from './split.ts';

/**
 * Pieces of at most `bytesMax` bytes, views of the body, in its order. Throws `InvalidRequest` when
 * a line is longer.
 */
export function cutLines(body: Uint8Array, bytesMax: number): readonly Uint8Array[] {
  if (body.length <= bytesMax) return [body];
  const splitter = new LineSplitter(body);
  const pieces: Uint8Array[] = [];
  let begin = 0;
  for (let start = 0; start < body.length;) {
    const end = splitter.lineEnd(start);
    if (end - start > bytesMax)
      throw new InvalidRequest(`a line is too long: ${end - start} bytes, at most ${bytesMax}`);
    if (end - begin > bytesMax) {
      // Without the newline in between.
      pieces.push(body.subarray(begin, start - 1));
      begin = start;
    }
    start = end + 1;
  }
  pieces.push(body.subarray(begin));
  return pieces;
}
