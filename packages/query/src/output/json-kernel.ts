// Prints rows of a result with the kernel, which is several times faster than cell by cell.
import { PRECISION_NANOS, textsBytes } from '@tidemark/core';
import type { Precision, StringColumn } from '@tidemark/core';
import { JsonRows } from '@tidemark/kernels';
import type { JsonColumn } from '@tidemark/kernels';

import { queryKernels } from '../kernels.ts';
import type { ResultBatch, ResultColumn } from '../result.ts';
import type { TextBuffer } from './bytes.ts';
import { jsonText } from './json-values.ts';
import { UnsupportedFloat } from './number-text.ts';

let printer: JsonRows | undefined;

export type RowOptions = {
  readonly epoch: Precision | undefined;
  readonly out: TextBuffer;
  /** Rows were written before: a comma comes first. */
  readonly continues: boolean;
};

/**
 * Appends `[a,b],[c,d]` for all rows; `false` if the batch needs the cell printers: cells of any
 * type, times of a zone, very long texts. Throws `UnsupportedFloat` for infinite numbers.
 */
export function appendRows(batch: ResultBatch, { epoch, out, continues }: RowOptions): boolean {
  if (batch.values.length === 0) return false;
  const columns: JsonColumn[] = [];
  for (let i = 0; i < batch.values.length;) {
    const texts = adjacentTexts(batch.values, i);
    const first = batch.values[i]!;
    const printed =
      texts.length > 0
        ? textColumn(texts, batch.rowCount)
        : jsonColumn(first, i === 0 ? epoch : undefined, batch);
    if (printed === undefined) return false;
    columns.push(printed);
    i += Math.max(1, texts.length);
  }
  printer ??= new JsonRows(queryKernels());
  if (!printer.canPrint(columns)) return false;
  if (continues) out.ascii(',');
  const infinite = printer.print(columns, batch.rowCount, (text) => out.bytes(text));
  if (infinite !== undefined) throw new UnsupportedFloat(infinite);
  return true;
}

function jsonColumn(
  column: ResultColumn,
  epoch: RowOptions['epoch'],
  batch: ResultBatch,
): JsonColumn | undefined {
  switch (column.type) {
    case 'mixed':
      return undefined;
    case 'time': {
      const { values } = column;
      const valid = undefined;
      if (epoch !== undefined) {
        return { kind: 'epoch', values, valid, unitNanos: PRECISION_NANOS[epoch] };
      }
      return batch.timeZone === undefined ? { kind: 'time', values, valid } : undefined;
    }
    case 'string':
      return textColumn([column], batch.rowCount);
    default:
      return { kind: column.type, values: column.values, valid: column.valid } as JsonColumn;
  }
}

/**
 * The columns from `at` on that can be printed as one, because their rows share codes: tags of the
 * same series.
 */
function adjacentTexts(columns: readonly ResultColumn[], at: number): readonly StringColumn[] {
  const texts: StringColumn[] = [];
  for (let i = at; i < columns.length; i++) {
    const column = columns[i]!;
    if (column.type !== 'string') break;
    const [first] = texts;
    if (first !== undefined && !shareCodes(first, column)) break;
    texts.push(column);
  }
  return texts;
}

function shareCodes(a: StringColumn, b: StringColumn): boolean {
  return (
    a.valid === undefined &&
    b.valid === undefined &&
    a.codes.buffer === b.codes.buffer &&
    a.codes.byteOffset === b.codes.byteOffset &&
    a.codes.length === b.codes.length &&
    a.dictionary.length === b.dictionary.length
  );
}

/** Columns of texts that share their codes, printed as one. */
function textColumn(columns: readonly StringColumn[], rowCount: number): JsonColumn | undefined {
  const [first] = columns;
  if (first === undefined) return undefined;
  const { codes, dictionary, valid } = first;
  const dictionaries = columns.map((column) => column.dictionary);
  // A single value, a tag of a series: searching the cache would cost more than encoding it.
  if (dictionary.length === 1) {
    return { kind: 'text', values: codes, valid, ...encodeTexts(dictionaries, ONLY) };
  }
  // A part of an answer rarely uses all of a long dictionary; a short one is encoded once for all
  // parts.
  const isShort = dictionary.length <= SHORT_DICTIONARY && textsBytes(dictionary) <= SHORT_TEXTS;
  if (dictionary.length <= rowCount || isShort) {
    return { kind: 'text', values: codes, valid, ...encodedTexts(dictionaries) };
  }
  const used: number[] = [];
  const codeOf = new Map<number, number>();
  const usedCodes = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    if (valid !== undefined && valid[row] !== 1) continue;
    const code = codes[row]!;
    let usedCode = codeOf.get(code);
    if (usedCode === undefined) {
      usedCode = used.push(code) - 1;
      codeOf.set(code, usedCode);
    }
    usedCodes[row] = usedCode;
  }
  const texts = encodeTexts(dictionaries, used);
  return { kind: 'text', values: usedCodes, valid, ...texts };
}

const SHORT_DICTIONARY = 256;
/** Maximum size of the texts of a short dictionary. */
const SHORT_TEXTS = 64 << 10;
const ONLY: readonly number[] = [0];

type EncodedTexts = {
  readonly texts: Uint8Array;
  readonly positions: Uint32Array;
  readonly longest: number;
};

type CachedTexts = {
  readonly dictionaries: readonly (readonly string[])[];
  readonly texts: EncodedTexts;
};

/** Keyed by the first dictionary while it is alive: the parts of an answer share it. */
const cachedTexts = new WeakMap<readonly string[], CachedTexts>();

function encodedTexts(dictionaries: readonly (readonly string[])[]): EncodedTexts {
  const first = dictionaries[0]!;
  const cached = cachedTexts.get(first);
  if (
    cached?.dictionaries.length === dictionaries.length &&
    cached.dictionaries.every((dictionary, i) => dictionary === dictionaries[i])
  ) {
    return cached.texts;
  }
  const texts = encodeTexts(dictionaries, [...first.keys()]);
  cachedTexts.set(first, { dictionaries, texts });
  return texts;
}

const encoder = new TextEncoder();

/** Escaped and encoded strings: for each code those of all dictionaries, with commas in between. */
function encodeTexts(
  dictionaries: readonly (readonly string[])[],
  codes: readonly number[],
): EncodedTexts {
  const encoded: Uint8Array[] = [];
  const positions = new Uint32Array(codes.length + 1);
  let longest = 0;
  let end = 0;
  for (const [i, code] of codes.entries()) {
    const cells = dictionaries.map((dictionary) => jsonText(dictionary[code]!));
    const text = encoder.encode(cells.join(','));
    encoded.push(text);
    longest = Math.max(longest, text.length);
    end += text.length;
    positions[i + 1] = end;
  }
  const texts = new Uint8Array(end);
  for (const [i, text] of encoded.entries()) texts.set(text, positions[i]);
  return { texts, positions, longest };
}
