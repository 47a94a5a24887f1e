// Runs statements one after another and writes their results to the client.
import { PRECISION_NANOS } from '@tidemark/core';
import type { Diagnostic, Precision, Span } from '@tidemark/core';

import type { SeriesText } from '../context.ts';
import type { ResultMessage, ResultBatch } from '../result.ts';
import { MAX_GATHERED_ROWS } from '../limits.ts';
import { CsvEncoder } from './csv-encoder.ts';
import type { Encoder } from './encoder.ts';
import { JsonEncoder } from './json-encoder.ts';
import { MsgpackEncoder } from './msgpack-encoder.ts';
import { PrettyPrinter } from './pretty.ts';
import { writeStatements } from './write-statements.ts';
import { mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';

/**
 * Reads the parameter `epoch`; `undefined` when it is empty. An unknown unit means nanoseconds, as
 * recorded.
 */
export function readEpoch(text: string): Precision | undefined {
  const unit = text.trim();
  if (unit === '') return undefined;
  if (unit === 'µ') return 'u';
  return Object.hasOwn(PRECISION_NANOS, unit) ? (unit as Precision) : 'ns';
}

export type ResultFormat = {
  readonly encoding: 'json' | 'csv' | 'msgpack';
  readonly isPretty?: boolean | undefined;
  /** Unit of printed times; `undefined` is RFC 3339. */
  readonly epoch?: Precision | undefined;
  /** Rows of one response chunk; `undefined` is one document. */
  readonly chunkRows?: number | undefined;
  /**
   * `max-row-limit`: rows of the whole answer, when it is not chunked; 0 and absent are unlimited.
   */
  readonly maxRows?: number | undefined;
  /** JSON answers carry `diagnostics` beside the results and errors that they are about. */
  readonly hasDiagnostics?: boolean | undefined;
};

/**
 * A statement to be run. `run` is called once, after the previous statement has ended well; text
 * that it appends is not also yielded as batches.
 */
export type StatementRun = {
  readonly run: (seriesText: SeriesText | undefined) => Operator<ResultBatch>;
  /** The statement's position in the text: the place of an error that has none of its own. */
  readonly span?: Span | undefined;
  /**
   * The position of the start or end of a span in the text that was sent; absent if it is the same.
   */
  readonly offsetInText?: ((offset: number) => number) | undefined;
  /** Read after the statement has ended. */
  readonly messages?: (() => readonly ResultMessage[]) | undefined;
  /**
   * Whether the answer lacks something that `messages` report; read after the statement has ended.
   */
  readonly isPartial?: (() => boolean) | undefined;
  /** Findings about the statement's text; read after it has ended. */
  readonly findings?: (() => readonly Diagnostic[]) | undefined;
  /** Called with the statement's outcome, before the next one is run. */
  readonly onEnd?: ((end: { readonly error: unknown }) => void) | undefined;
};

/**
 * Runs the statements and yields the answer's bytes in pieces of about 64 KiB. A statement that
 * throws an `AppError` answers its message; later statements answer `not executed`. Other errors
 * are rethrown.
 */
export function writeResults(
  statements: readonly StatementRun[],
  format: ResultFormat,
): Operator<Uint8Array> {
  const { encoding, chunkRows, maxRows } = format;
  const isJson = encoding === 'json';
  const pieces = writeStatements(statements, encoderOf(format), {
    // CSV has no chunks: they would be parts of one table.
    chunkRows: encoding === 'csv' ? undefined : chunkRows,
    maxRows: chunkRows === undefined ? maxRows : undefined,
    hasDiagnostics: isJson && format.hasDiagnostics === true,
  });
  return isJson && format.isPretty === true ? prettyPieces(pieces) : pieces;
}

function encoderOf({ encoding, epoch, chunkRows }: ResultFormat): Encoder {
  switch (encoding) {
    case 'json':
      return new JsonEncoder(epoch);
    case 'csv':
      return new CsvEncoder(epoch);
    case 'msgpack': {
      const maxGatheredRows = chunkRows ?? MAX_GATHERED_ROWS;
      return new MsgpackEncoder({ epoch, maxGatheredRows });
    }
  }
}

function prettyPieces(pieces: Operator<Uint8Array>): Operator<Uint8Array> {
  const pretty = new PrettyPrinter();
  return mapBatches(pieces, (piece) => pretty.push(piece));
}

/** The `Content-Type` of a format. */
export function contentType(encoding: ResultFormat['encoding']): string {
  switch (encoding) {
    case 'json':
      return 'application/json';
    case 'csv':
      return 'text/csv';
    case 'msgpack':
      return 'application/x-msgpack';
  }
}
