// Columns of strings without the texts that their rows do not have. A selection of rows shares the
// texts of all rows that were read with it; before rows are kept, sent or written, only theirs are.
import type { StringColumn } from './column.ts';
import { NO_TEXTS, TextBuilder, textCount } from './texts.ts';
import type { Texts } from './texts.ts';

/** Texts that are not used are left if they take no more than this. */
const SPARE_BYTES = 1 << 10;
/** Lists of more texts per row are not scanned. */
const TEXTS_PER_ROW = 4;

/**
 * The same rows with hardly more texts than they have. The texts are a view of the same bytes where
 * those of the rows lie together; the column itself, if it has few others.
 */
export function compactTexts(column: StringColumn): StringColumn {
  const { codes, texts, valid } = column;
  const { offsets } = texts;
  let first = textCount(texts);
  let last = -1;
  let used = 0;
  for (let row = 0; row < codes.length; row++) {
    if (valid !== undefined && valid[row] !== 1) continue;
    const code = codes[row]!;
    if (code < first) first = code;
    if (code > last) last = code;
    used += offsets[code + 1]! - offsets[code]! + 4;
  }
  if (last < 0) return { ...column, texts: NO_TEXTS };
  const size = offsets[last + 1]! - offsets[first]! + 4 * (last + 1 - first);
  if (size > 2 * used + SPARE_BYTES) return gathered(column, { first, last, sizeBytes: used });
  const whole = texts.bytes.length + 4 * textCount(texts);
  return whole <= size + SPARE_BYTES ? column : ranged(column, first, last);
}

/** Texts [first, last] as a view. */
function ranged({ codes, texts, valid }: StringColumn, first: number, last: number): StringColumn {
  const start = texts.offsets[first]!;
  const bytes = texts.bytes.subarray(start, texts.offsets[last + 1]);
  const offsets = texts.offsets.subarray(first, last + 2);
  return {
    type: 'string',
    codes: first === 0 ? codes : codes.map((code) => code - first),
    texts: { bytes, offsets: start === 0 ? offsets : offsets.map((offset) => offset - start) },
    valid,
  };
}

/** Texts [first, last], of which the rows have so many bytes. */
type UsedTexts = { readonly first: number; readonly last: number; readonly sizeBytes: number };

/** Copies the texts of the rows, each once. */
function gathered(column: StringColumn, { first, last, sizeBytes }: UsedTexts): StringColumn {
  const { codes, texts, valid } = column;
  const { length } = codes;
  const own = new TextBuilder(length, sizeBytes);
  const found = new Uint32Array(length);
  const count = last + 1 - first;
  if (count <= length * TEXTS_PER_ROW) {
    const places = new Uint32Array(count);
    for (let row = 0; row < length; row++) {
      if (valid !== undefined && valid[row] !== 1) continue;
      const code = codes[row]!;
      if (places[code - first] === 0) places[code - first] = own.addFrom(texts, code) + 1;
      found[row] = places[code - first]! - 1;
    }
  } else {
    const places = new Map<number, number>();
    for (let row = 0; row < length; row++) {
      if (valid !== undefined && valid[row] !== 1) continue;
      const code = codes[row]!;
      let place = places.get(code);
      if (place === undefined) places.set(code, (place = own.addFrom(texts, code)));
      found[row] = place;
    }
  }
  return { type: 'string', codes: found, texts: own.texts, valid };
}

/** The same rows without nulls: their texts are empty. */
export function withEmptyTexts(column: StringColumn): StringColumn {
  const { texts, valid } = column;
  if (valid === undefined) return column;
  const all = TextBuilder.of(texts);
  const empty = all.add('');
  const codes = column.codes.map((code, row) => (valid[row] === 1 ? code : empty));
  return { type: 'string', codes, texts: all.texts, valid: undefined };
}

/** The longest text, in bytes. */
export function longestText({ offsets }: Texts): number {
  let longest = 0;
  for (let i = 1; i < offsets.length; i++) {
    const length = offsets[i]! - offsets[i - 1]!;
    if (length > longest) longest = length;
  }
  return longest;
}
