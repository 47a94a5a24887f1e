// Rows of an answer through the kernel's printer, which is several times faster than cell by cell.
import { JsonRows } from '@tidemark/kernels';
import type { JsonColumn } from '@tidemark/kernels';

import type { ResultBatch, ResultColumn } from '../result.ts';
import type { TextBuffer } from './bytes.ts';
import { jsonText } from './json-values.ts';
import { UnsupportedFloat } from './number-text.ts';
import { EPOCH_NANOS } from './time-text.ts';

let printer: JsonRows | undefined;

export type RowOptions = {
  readonly epoch: keyof typeof EPOCH_NANOS | undefined;
  readonly out: TextBuffer;
  /** Rows were written before: a comma comes first. */
  readonly continues: boolean;
};

/**
 * Appends `[a,b],[c,d]` of all rows; `false` when the batch holds what only the cell printers know: cells of any type,
 * times of a zone, enormous texts. Throws `UnsupportedFloat` for infinite numbers.
 */
export function appendRows(batch: ResultBatch, { epoch, out, continues }: RowOptions): boolean {
  if (batch.values.length === 0) return false;
  const columns: JsonColumn[] = [];
  for (const [i, column] of batch.values.entries()) {
    const printed = jsonColumn(column, i === 0 ? epoch : undefined, batch);
    if (printed === undefined) return false;
    columns.push(printed);
  }
  printer ??= new JsonRows();
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
        return { kind: 'epoch', values, valid, unitNanos: EPOCH_NANOS[epoch] };
      }
      return batch.timeZone === undefined ? { kind: 'time', values, valid } : undefined;
    }
    case 'string':
      return textColumn(column, batch.rowCount);
    case 'float':
      return { kind: 'float', values: column.values, valid: column.valid };
    case 'integer':
      return { kind: 'integer', values: column.values, valid: column.valid };
    case 'unsigned':
      return { kind: 'unsigned', values: column.values, valid: column.valid };
    case 'boolean':
      return { kind: 'boolean', values: column.values, valid: column.valid };
  }
}

const encoder = new TextEncoder();

/** Escaped and encoded strings of dictionaries, which the parts of an answer share. */
const encodedTexts = new WeakMap<readonly string[], (Uint8Array | undefined)[]>();

/** Every string that a row uses is escaped and encoded once. */
function textColumn(
  { codes, dictionary, valid }: ResultColumn & { readonly type: 'string' },
  rowCount: number,
): JsonColumn {
  let known = encodedTexts.get(dictionary);
  if (known === undefined) {
    known = [];
    encodedTexts.set(dictionary, known);
  }
  const isUsed = new Uint8Array(dictionary.length);
  for (let row = 0; row < rowCount; row++) {
    if (valid === undefined || valid[row] === 1) isUsed[codes[row]!] = 1;
  }
  const positions = new Uint32Array(dictionary.length + 1);
  const encoded: Uint8Array[] = [];
  let longest = 0;
  let at = 0;
  for (let code = 0; code < dictionary.length; code++) {
    positions[code] = at;
    if (isUsed[code] === 0) continue;
    const text = (known[code] ??= encoder.encode(jsonText(dictionary[code]!)));
    encoded.push(text);
    longest = Math.max(longest, text.length);
    at += text.length;
  }
  positions[dictionary.length] = at;
  const texts = new Uint8Array(at);
  at = 0;
  for (const text of encoded) {
    texts.set(text, at);
    at += text.length;
  }
  return { kind: 'text', values: codes, valid, texts, positions, longest };
}
