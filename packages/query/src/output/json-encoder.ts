// JSON responses.
import type { Precision } from '@tidemark/core';
import type { ResultBatch } from '../result.ts';
import { TextBuffer } from './bytes.ts';
import { diagnosticDocument } from './diagnostics.ts';
import type { DiagnosticDocument } from './diagnostics.ts';
import type { Encoder, StatementEnd } from './encoder.ts';
import { appendRows } from './json-kernel.ts';
import { jsonPrinters, jsonText } from './json-values.ts';

const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;

const encoder = new TextEncoder();

/**
 * Appends answers to a buffer. Rows that have been printed stay when the statement fails after
 * them.
 */
export class JsonEncoder implements Encoder {
  readonly out = new TextBuffer();
  readonly #epoch: Precision | undefined;
  #isEmpty = true;
  #hasStatement = false;
  #hasSeries = false;
  /** Whether the open series has rows. */
  #hasRows = false;
  #columns: readonly string[] | undefined;
  #columnsJson = new Uint8Array(0);

  constructor(epoch: Precision | undefined) {
    this.#epoch = epoch;
    this.seriesText = { epoch, append: (series) => this.#append(series) };
  }

  begin(statementCount: number): void {
    this.#isEmpty = statementCount === 0;
    this.#hasStatement = false;
    this.out.ascii(this.#isEmpty ? '{' : '{"results":[');
  }

  finish(): void {
    this.out.ascii(this.#isEmpty ? '}\n' : ']}\n');
  }

  open(statementId: number): void {
    this.out.ascii(`${this.#hasStatement ? ',' : ''}{"statement_id":${statementId}`);
    this.#hasStatement = true;
    this.#hasSeries = false;
  }

  batch(batch: ResultBatch): void {
    const { length } = this.out;
    const hasSeries = this.#hasSeries;
    const hasRows = this.#hasRows;
    try {
      if (!batch.isContinuation || !hasSeries) this.#openSeries(batch);
      this.#rows(batch);
    } catch (cause) {
      // Some of the rows before the number have been printed.
      this.out.truncate(length);
      this.#hasSeries = hasSeries;
      this.#hasRows = hasRows;
      throw cause;
    }
  }

  readonly seriesText: Encoder['seriesText'];

  /** The last series is left open, as after `batch`. */
  #append(series: Uint8Array): void {
    if (series.length === 0) return;
    this.out.bytes(series);
    this.#hasSeries = true;
    this.#hasRows = true;
  }

  /** Follows the previous series; the first of a statement opens the list. */
  #openSeries(batch: ResultBatch): void {
    const { out } = this;
    if (this.#hasSeries) this.#closeSeries(false);
    out.ascii(this.#hasSeries ? ',{' : ',"series":[{');
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
    this.#hasSeries = true;
    this.#hasRows = false;
  }

  /** The names of the columns, which most series of a statement share. */
  #columnsText(columns: readonly string[]): Uint8Array {
    if (columns !== this.#columns) {
      this.#columns = columns;
      this.#columnsJson = encoder.encode(`"columns":[${columns.map(jsonText).join(',')}]`);
    }
    return this.#columnsJson;
  }

  #rows(batch: ResultBatch): void {
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

  #closeSeries(isPartial: boolean): void {
    if (this.#hasRows) this.out.byte(CLOSE);
    this.out.ascii(isPartial ? ',"partial":true}' : '}');
  }

  close(end: StatementEnd): void {
    const { out } = this;
    if (this.#hasSeries) {
      this.#closeSeries(end.cutsSeries);
      out.byte(CLOSE);
    }
    if (end.messages.length > 0) {
      const messages = end.messages.map(
        ({ level, text }) => `{"level":${jsonText(level)},"text":${jsonText(text)}}`,
      );
      out.text(`,"messages":[${messages.join(',')}]`);
    }
    if (end.isPartial) out.ascii(',"partial":true');
    if (end.failure !== undefined) out.text(`,"error":${jsonText(end.failure.text)}`);
    if (end.diagnostics.length > 0) {
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
