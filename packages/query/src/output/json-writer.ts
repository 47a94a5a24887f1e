// JSON answers: one document, or one document per response chunk.
import type { Diagnostic } from '@tidemark/core';

import type { ResultBatch, ResultMessage } from '../result.ts';
import { TextBuffer } from './bytes.ts';
import { diagnosticDocument } from './diagnostics.ts';
import type { DiagnosticDocument } from './diagnostics.ts';
import { appendRows } from './json-kernel.ts';
import { jsonPrinters, jsonText } from './json-values.ts';
import type { Epoch } from './write-results.ts';

const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;

const encoder = new TextEncoder();

/** Appends parts of answers to a buffer. Keeps track of commas, nothing else. */
export class JsonWriter {
  readonly out = new TextBuffer();
  readonly #epoch: Epoch | undefined;
  #hasRows = false;
  #columns: readonly string[] | undefined;
  #columnsJson = new Uint8Array(0);

  constructor(epoch: Epoch | undefined) {
    this.#epoch = epoch;
  }

  openStatement(statementId: number): void {
    this.out.ascii(`{"statement_id":${statementId}`);
  }

  /** The first series of a statement opens the list. */
  openSeries(batch: ResultBatch, isFirst: boolean): void {
    const { out } = this;
    out.ascii(isFirst ? ',"series":[{' : ',{');
    let head = batch.name === undefined ? '' : `"name":${jsonText(batch.name)},`;
    if (batch.tags !== undefined) {
      let separator = '"tags":{';
      for (const [key, value] of batch.tags) {
        head += `${separator}${jsonText(key)}:${jsonText(value)}`;
        separator = ',';
      }
      head += batch.tags.size === 0 ? '"tags":{},' : '},';
    }
    out.text(head);
    out.bytes(this.#columnsText(batch.columns));
    this.#hasRows = false;
  }

  /** The names of the columns, which all series of a statement share mostly. */
  #columnsText(columns: readonly string[]): Uint8Array {
    if (columns !== this.#columns) {
      this.#columns = columns;
      this.#columnsJson = encoder.encode(`"columns":[${columns.map(jsonText).join(',')}]`);
    }
    return this.#columnsJson;
  }

  /** Rows of the open series. */
  rows(batch: ResultBatch): void {
    if (batch.omitsValues === true) return;
    const { out } = this;
    if (!this.#hasRows) out.ascii(',"values":[');
    if (
      batch.rowCount > 0 &&
      appendRows(batch, { epoch: this.#epoch, out, continues: this.#hasRows })
    ) {
      this.#hasRows = true;
      return;
    }
    const printers = jsonPrinters(batch, this.#epoch);
    for (let row = 0; row < batch.rowCount; row++) {
      if (row > 0 || this.#hasRows) out.byte(COMMA);
      out.byte(OPEN);
      for (let i = 0; i < printers.length; i++) {
        if (i > 0) out.byte(COMMA);
        printers[i]!(row, out);
      }
      out.byte(CLOSE);
    }
    this.#hasRows = true;
  }

  closeSeries(isPartial: boolean): void {
    if (this.#hasRows) this.out.byte(CLOSE);
    this.out.ascii(isPartial ? ',"partial":true}' : '}');
  }

  closeStatement(end: {
    readonly hasSeries: boolean;
    readonly messages: readonly ResultMessage[];
    readonly isPartial: boolean;
    readonly error: string | undefined;
    readonly diagnostics?: readonly Diagnostic[] | undefined;
  }): void {
    const { out } = this;
    if (end.hasSeries) out.byte(CLOSE);
    if (end.messages.length > 0) {
      const messages = end.messages.map(
        ({ level, text }) => `{"level":${jsonText(level)},"text":${jsonText(text)}}`,
      );
      out.text(`,"messages":[${messages.join(',')}]`);
    }
    if (end.isPartial) out.ascii(',"partial":true');
    if (end.error !== undefined) out.text(`,"error":${jsonText(end.error)}`);
    if (end.diagnostics !== undefined && end.diagnostics.length > 0) {
      const entries = end.diagnostics.map(diagnosticDocument).map(diagnosticJson);
      out.text(`,"diagnostics":[${entries.join(',')}]`);
    }
    out.byte(0x7d);
  }
}

function diagnosticJson({ code, message, position, length, hint }: DiagnosticDocument): string {
  const advice = hint === undefined ? '' : `,"hint":${jsonText(hint)}`;
  return (
    `{"code":${jsonText(code)},"message":${jsonText(message)},` +
    `"position":${position},"length":${length}${advice}}`
  );
}
