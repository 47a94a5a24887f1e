// Texts of a column of strings, of which only those that are wanted are copied.
import type { Column, Texts } from '@tidemark/core';
import type { ReadBytes, TextSearch } from '@tidemark/kernels';

import { codecs } from '../columns/codecs.ts';
import { columnOf } from '../columns/run.ts';
import { noteTexts, threadHeap } from '../columns/thread-heap.ts';
import type { ChunkMeta, ColumnMeta } from './format.ts';
import type { ReadAhead, SegmentBlocks } from './segment-blocks.ts';

/** A column of strings of a chunk. */
export type TextsOfChunk = { readonly chunk: ChunkMeta; readonly meta: ColumnMeta };

/**
 * For each row of a column of strings 1 if its text satisfies the search, else 0. Only texts that
 * may satisfy it become strings.
 */
export function matchTexts(
  blocks: SegmentBlocks,
  { chunk, meta }: TextsOfChunk,
  { search, whole }: { readonly search: TextSearch; readonly whole?: ReadAhead | undefined },
): Uint8Array {
  const { offset, validBytes, valueBytes } = meta;
  let chars = 0;
  const accepts = (text: string): boolean => {
    chars += text.length;
    return search.accepts(text);
  };
  const counted = { ...search, accepts };
  // Frames have checksums of their own, and filters that leave most of them unread.
  const framed =
    validBytes > 0
      ? undefined
      : blocks.decoding(offset, () =>
          codecs().texts.matchFramed(readerOf(blocks, offset, whole), valueBytes, counted),
        );
  if (framed !== undefined) {
    threadHeap.made(chars);
    blocks.check(framed.length === chunk.rows, 'number of values', offset);
    return framed;
  }
  const bytes = blocks.view(offset, validBytes + valueBytes, whole);
  const dense = blocks.decoding(offset, () =>
    codecs().texts.match(bytes.subarray(validBytes), counted),
  );
  threadHeap.made(chars);
  blocks.check(dense.length === meta.count, 'number of values', offset);
  const valid =
    validBytes === 0
      ? undefined
      : blocks.decoding(offset, () => codecs().decodeValidity(bytes.subarray(0, validBytes)));
  blocks.check((valid ?? dense).length === chunk.rows, 'number of validity bits', offset);
  if (valid === undefined) return dense;
  let at = 0;
  for (let row = 0; row < valid.length; row++) if (valid[row] === 1) valid[row] = dense[at++]!;
  blocks.check(at === meta.count, 'validity bits', offset);
  return valid;
}

/** Some rows of a column of strings, with only their texts. */
export function textsAt(
  blocks: SegmentBlocks,
  { chunk, meta }: TextsOfChunk,
  { rows, whole }: { readonly rows: Uint32Array; readonly whole?: ReadAhead | undefined },
): Column {
  const { offset, validBytes, valueBytes } = meta;
  if (validBytes === 0) {
    const framed = blocks.decoding(offset, () =>
      codecs().texts.decodeFramedAt(readerOf(blocks, offset, whole), valueBytes, rows),
    );
    if (framed !== undefined) {
      noteTexts(framed.texts);
      return columnOf('string', { values: framed.codes, texts: framed.texts, valid: undefined });
    }
  }
  const bytes = blocks.view(offset, validBytes + valueBytes, whole);
  return blocks.decoding(offset, () => {
    const block = bytes.subarray(validBytes);
    if (validBytes === 0) {
      blocks.check(chunk.rows === meta.count, 'number of values', offset);
      return columnOf('string', { ...stringsAt(block, rows), valid: undefined });
    }
    const valid = codecs().decodeValidity(bytes.subarray(0, validBytes));
    blocks.check(valid.length === chunk.rows, 'number of validity bits', offset);
    const placeOf = new Uint32Array(valid.length);
    let count = 0;
    for (let row = 0; row < valid.length; row++) if (valid[row] === 1) placeOf[row] = count++;
    blocks.check(count === meta.count, 'validity bits', offset);
    const places = rows.filter((row) => valid[row] === 1).map((row) => placeOf[row]!);
    const dense = stringsAt(block, places);
    const chosen = rows.map((row) => valid[row]!);
    let at = 0;
    const values = Uint32Array.from(chosen, (isThere) => (isThere ? dense.values[at++]! : 0));
    return columnOf('string', { values, valid: Uint8Array.from(chosen), texts: dense.texts });
  });
}

/** Reads bytes of the block at `offset`, unchecked. */
function readerOf(blocks: SegmentBlocks, offset: number, whole: ReadAhead | undefined): ReadBytes {
  if (whole === undefined) return (at, length) => blocks.bytesAt(offset + at, length);
  const start = offset - whole.offset;
  return (at, length) => whole.bytes.subarray(start + at, start + at + length);
}

function stringsAt(
  block: Uint8Array,
  places: Uint32Array,
): { readonly values: Uint32Array; readonly texts: Texts } {
  const { codes, texts } = codecs().texts.decodeAt(block, places);
  noteTexts(texts);
  return { values: codes, texts };
}
