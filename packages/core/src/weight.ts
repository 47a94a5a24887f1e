// Memory sizes of values. Every memory limit counts with these functions: of a request, of all
// queries, of messages between threads, of caches, of waiting writes.
import type { Column } from './column.ts';
import type { Texts } from './texts.ts';

/** A text's header, and its entry in a list. */
const TEXT_BYTES = 32;
/** Measuring a shorter text exactly costs more than it is worth. */
const SHORT_TEXT_CHARS = 256;
/** A column with its arrays. */
const COLUMN_BYTES = 64;
/** A key with its value in a map. */
const ENTRY_BYTES = 32;
/** Memory of a text. Short ones count as if they were ASCII. */
export function textBytes(text: string): number {
  const { length } = text;
  return TEXT_BYTES + (length < SHORT_TEXT_CHARS ? length : Buffer.byteLength(text));
}

/** Memory of the texts of a column. */
export function textsBytes({ bytes, offsets }: Texts): number {
  return bytes.length + offsets.byteLength;
}

/** Memory of a column: its rows, and all its texts. */
export function columnBytes(column: Column | undefined): number {
  if (column === undefined) return 0;
  const { valid } = column;
  const bytes = COLUMN_BYTES + (valid === undefined ? 0 : valid.length);
  if (column.type !== 'string') return bytes + column.values.byteLength;
  return bytes + column.codes.byteLength + textsBytes(column.texts);
}

/** Memory of rows. */
export function rowsBytes(times: BigInt64Array, columns: readonly (Column | undefined)[]): number {
  let bytes = COLUMN_BYTES + times.byteLength;
  for (const column of columns) bytes += columnBytes(column);
  return bytes;
}

/** Memory of the tags of a series or of a group. */
export function tagsBytes(tags: ReadonlyMap<string, string>): number {
  let bytes = ENTRY_BYTES;
  // Series share the texts of keys.
  for (const value of tags.values()) bytes += ENTRY_BYTES + textBytes(value);
  return bytes;
}
