// MessagePack responses with the structure of the JSON ones. Lengths precede their contents, so the
// rows of a statement (of a chunk, if the response is chunked) are collected before they are
// written.
import {
  columnBytes,
  columnValue,
  isValid,
  PRECISION_NANOS,
  textBytes,
  textBytesAt,
} from '@tidemark/core';
import type { Precision } from '@tidemark/core';

import { gatheredBytesExceeded, gatheredLimitExceeded, MAX_GATHERED_BYTES } from '../limits.ts';
import type { MixedValue, ResultBatch, ResultColumn } from '../result.ts';
import type { Encoder, StatementEnd } from './encoder.ts';
import { MsgpackBuffer } from './msgpack-buffer.ts';

/** The batches of a series; there is at least one. */
type Series = readonly [ResultBatch, ...ResultBatch[]];

/** Size of a column of gathered rows. */
function bytesOf(column: ResultColumn): number {
  if (column.type === 'time') return column.values.byteLength;
  if (column.type !== 'mixed') return columnBytes(column);
  return column.values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? textBytes(value) : 8),
    0,
  );
}

export class MsgpackEncoder implements Encoder {
  readonly #buffer = new MsgpackBuffer();
  readonly out = this.#buffer.out;
  readonly #epoch: Precision | undefined;
  readonly #maxGatheredRows: number;
  #statementId = 0;
  #series: [ResultBatch, ...ResultBatch[]][] = [];
  #gatheredRows = 0;
  #gatheredBytes = 0;

  /** A statement fails if it has more rows than may be gathered. */
  constructor(options: {
    readonly epoch: Precision | undefined;
    readonly maxGatheredRows: number;
  }) {
    this.#epoch = options.epoch;
    this.#maxGatheredRows = options.maxGatheredRows;
  }

  begin(statementCount: number): void {
    const buffer = this.#buffer;
    buffer.mapHeader(1);
    buffer.string('results');
    buffer.arrayHeader(statementCount);
  }

  open(statementId: number): void {
    this.#statementId = statementId;
    this.#series = [];
    this.#gatheredRows = 0;
    this.#gatheredBytes = 0;
  }

  batch(batch: ResultBatch): void {
    this.#gatheredRows += batch.rowCount;
    if (this.#gatheredRows > this.#maxGatheredRows) throw gatheredLimitExceeded();
    for (const column of batch.values) this.#gatheredBytes += bytesOf(column);
    if (this.#gatheredBytes > MAX_GATHERED_BYTES) throw gatheredBytesExceeded();
    const last = this.#series.at(-1);
    if (batch.isContinuation && last !== undefined) last.push(batch);
    else this.#series.push([batch]);
  }

  close({ messages, isPartial, cutsSeries, failure }: StatementEnd): void {
    const buffer = this.#buffer;
    const series = this.#series;
    this.#series = [];
    const hasMessages = failure === undefined && messages.length > 0;
    // Series, if there are any, or an error.
    buffer.mapHeader(2 + Number(hasMessages) + Number(isPartial));
    buffer.string('statement_id');
    buffer.integer(BigInt(this.#statementId));
    if (hasMessages) {
      buffer.string('messages');
      buffer.arrayHeader(messages.length);
      for (const { level, text } of messages) {
        buffer.mapHeader(2);
        this.#pair('level', level);
        this.#pair('text', text);
      }
    }
    if (failure === undefined) {
      buffer.string('series');
      buffer.arrayHeader(series.length);
      for (const [i, one] of series.entries()) {
        this.#appendSeries(one, cutsSeries && i === series.length - 1);
      }
    }
    if (isPartial) this.#partial();
    if (failure !== undefined) this.#pair('error', failure.text);
  }

  finish(): void {}

  #partial(): void {
    this.#buffer.string('partial');
    this.#buffer.boolean(true);
  }

  #pair(key: string, value: string): void {
    this.#buffer.string(key);
    this.#buffer.string(value);
  }

  #appendSeries(pieces: Series, isPartial: boolean): void {
    const [first] = pieces;
    const buffer = this.#buffer;
    const rowCount = pieces.reduce((sum, piece) => sum + piece.rowCount, 0);
    buffer.mapHeader(
      2 + Number(first.name !== undefined) + Number(first.tags !== undefined) + Number(isPartial),
    );
    if (first.name !== undefined) this.#pair('name', first.name);
    if (first.tags !== undefined) {
      buffer.string('tags');
      buffer.mapHeader(first.tags.size);
      for (const [key, value] of first.tags) this.#pair(key, value);
    }
    buffer.string('columns');
    buffer.arrayHeader(first.columns.length);
    for (const column of first.columns) buffer.string(column);
    buffer.string('values');
    buffer.arrayHeader(rowCount);
    for (const piece of pieces) {
      for (let row = 0; row < piece.rowCount; row++) {
        buffer.arrayHeader(piece.values.length);
        for (let i = 0; i < piece.values.length; i++) {
          this.#cell(piece.values[i]!, row, i === 0 ? this.#epoch : undefined);
        }
      }
    }
    if (isPartial) this.#partial();
  }

  #cell(column: ResultColumn, row: number, epoch: Precision | undefined): void {
    switch (column.type) {
      case 'time': {
        const time = column.values[row]!;
        if (epoch === undefined) this.#buffer.time(time);
        else this.#buffer.integer(time / PRECISION_NANOS[epoch]);
        return;
      }
      case 'mixed':
        return this.#value(column.values[row] ?? null);
      case 'string': {
        if (!isValid(column, row)) return this.#buffer.nil();
        return this.#buffer.text(textBytesAt(column.texts, column.codes[row]!));
      }
      default:
        return this.#value(columnValue(column, row));
    }
  }

  #value(value: MixedValue): void {
    const buffer = this.#buffer;
    switch (typeof value) {
      case 'number':
        return Number.isNaN(value) ? buffer.nil() : buffer.float(value);
      case 'bigint':
        return buffer.integer(value);
      case 'string':
        return buffer.string(value);
      case 'boolean':
        return buffer.boolean(value);
      default:
        if (value === null) return buffer.nil();
        buffer.arrayHeader(value.length);
        for (const item of value) buffer.string(item);
    }
  }
}
