// CSV responses: one table per list of columns. Statements without rows print nothing, failing ones
// a table with the error.
import {
  columnValue,
  Corruption,
  csvCell,
  csvQuoted,
  escapeTagPart,
  isValid,
  PRECISION_NANOS,
  textBytesAt,
  utf8Text,
} from '@tidemark/core';
import type { Precision } from '@tidemark/core';

import type { MixedValue, ResultBatch, ResultColumn } from '../result.ts';
import { TextBuffer } from './bytes.ts';
import type { Encoder, StatementEnd } from './encoder.ts';
import { decimalText } from './number-text.ts';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANK = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;

export class CsvEncoder implements Encoder {
  readonly out = new TextBuffer();
  readonly #epoch: Precision;
  #hasTable = false;
  #header: readonly string[] | undefined;

  constructor(epoch: Precision | undefined) {
    this.#epoch = epoch ?? 'ns';
  }

  begin(): void {}

  open(): void {
    this.#header = undefined;
  }

  batch(batch: ResultBatch): void {
    if (batch.rowCount === 0) return;
    if (this.#header === undefined || !sameColumns(this.#header, batch.columns)) {
      if (this.#hasTable) this.out.ascii('\n');
      this.#hasTable = true;
      this.#header = batch.columns;
      this.out.text(`${['name', 'tags', ...batch.columns].map(csvCell).join(',')}\n`);
    }
    appendRows(this.out, batch, this.#epoch);
  }

  close({ failure }: StatementEnd): void {
    if (failure === undefined) return;
    // The client would take some of the rows for the whole answer.
    if (failure.cause instanceof Corruption) throw failure.cause;
    if (this.#hasTable) this.out.ascii('\n');
    this.#hasTable = true;
    this.out.text(csvError(failure.text));
  }

  finish(): void {}
}

/** The table with an error. */
export function csvError(text: string): string {
  return `error\n${csvQuoted(text)}\n`;
}

function sameColumns(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name, i) => name === b[i]);
}

function appendRows(out: TextBuffer, batch: ResultBatch, epoch: Precision): void {
  // A series that lacks a tag has an empty value for it, as cells without a value have.
  const tags = [...(batch.tags ?? [])]
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${escapeTagPart(key)}=${escapeTagPart(value)}`)
    .join(',');
  const start = `${csvCell(batch.name ?? '')},${csvCell(tags)}`;
  for (let row = 0; row < batch.rowCount; row++) {
    let line = start;
    for (let i = 0; i < batch.values.length; i++) {
      const column = batch.values[i]!;
      line += ',';
      if (column.type === 'string' && isValid(column, row)) {
        out.text(line);
        line = '';
        appendText(out, textBytesAt(column.texts, column.codes[row]!));
      } else line += cellText(column, row, i === 0 ? epoch : 'ns');
    }
    out.text(`${line}\n`);
  }
}

/** Copies a text that needs no quotes. */
function appendText(out: TextBuffer, bytes: Uint8Array): void {
  if (isPlain(bytes)) out.bytes(bytes);
  else out.text(csvCell(utf8Text(bytes)));
}

/** Whether a text certainly needs no quotes: see `csvCell`. */
function isPlain(bytes: Uint8Array): boolean {
  const [first = 0x41] = bytes;
  if (first <= BLANK || first >= 0x80 || first === BACKSLASH) return false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE || byte === COMMA || byte === NEWLINE || byte === RETURN) return false;
  }
  return true;
}

function cellText(column: ResultColumn, row: number, epoch: Precision): string {
  switch (column.type) {
    case 'time':
      return String(column.values[row]! / PRECISION_NANOS[epoch]);
    case 'mixed':
      return valueText(column.values[row] ?? null);
    default:
      return valueText(columnValue(column, row));
  }
}

function valueText(value: MixedValue): string {
  switch (typeof value) {
    case 'number':
      return floatCell(value);
    case 'string':
      return csvCell(value);
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value === null ? '' : csvCell(value.join(','));
  }
}

function floatCell(value: number): string {
  if (Number.isNaN(value)) return '';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return decimalText(value);
}
