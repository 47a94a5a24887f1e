// Rows of a chunk that have a value of a field, where few have: the runs of a validity block
// (docs/formats/encodings.md, 0x22) as row numbers, so that a column of ten values costs ten steps
// and not one for each row of its chunk.
import { ByteReader, DecodeError } from '../columns/bytes.ts';

const RUNS_ENCODING = 0x22;

/** Ascending numbers of the rows with a value. */
export type ValidRows = { readonly rows: Uint32Array; readonly rowCount: number };

/** Whether so few rows of a chunk have a value that a list of them is worthwhile. */
export function areFew(count: number, rowCount: number): boolean {
  return count <= rowCount / 2;
}

/**
 * Row numbers of `count` values; `undefined` when the block is encoded in another way, or most rows
 * have a value. Throws `DecodeError` when the block contradicts itself or the count.
 */
export function validRowsOf(block: Uint8Array, count: number): ValidRows | undefined {
  const reader = new ByteReader(block);
  const rowCount = reader.varint();
  if (!areFew(count, rowCount) || reader.remaining === 0 || reader.u8() !== RUNS_ENCODING) {
    return undefined;
  }
  const rows = new Uint32Array(count);
  let isValid = reader.u8() === 1;
  let found = 0;
  let row = 0;
  while (row < rowCount) {
    const length = reader.varint();
    if (length === 0 || length > rowCount - row) throw new DecodeError('run of validity bits');
    const end = row + length;
    if (!isValid) row = end;
    else {
      if (found + length > count) throw new DecodeError('validity bits');
      while (row < end) rows[found++] = row++;
    }
    isValid = !isValid;
  }
  if (found !== count || reader.remaining > 0) throw new DecodeError('validity bits');
  return { rows, rowCount };
}
