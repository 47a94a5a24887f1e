// Runs statements and writes their answers as JSON, streamed.
import { AppError, LimitExceeded } from '@tidemark/core';
import type { Diagnostic, Span } from '@tidemark/core';

import type { ResultBatch } from '../result.ts';
import { responseChunks, RowBudget, sliceBatch } from './chunks.ts';
import { JsonWriter } from './json-writer.ts';
import { UnsupportedFloat } from './number-text.ts';
import type { ResultFormat, StatementRun } from './write-results.ts';
import { isPause } from '../operator.ts';
import type { Operator } from '../operator.ts';

const PIECE_BYTES = 64 * 1024;
const PART_ROWS = 2048;
/** Answers of very many columns are printed in parts of fewer rows. */
const PART_CELLS = 1 << 16;
const NOT_EXECUTED = 'not executed';
/** What stands before the reason when an answer holds a number that JSON lacks: bare text, as recorded. */
const UNENCODABLE =
  'json: error calling MarshalJSON for type httpd.Response: ' +
  'json: error calling MarshalJSON for type *query.Result: ';

/** One document. Bytes leave as soon as there are enough of them. */
export function* writeDocument(
  statements: readonly StatementRun[],
  format: ResultFormat,
): Operator<Uint8Array> {
  const writer = new JsonWriter(format.epoch);
  const { out } = writer;
  if (statements.length === 0) {
    out.ascii('{}\n');
    yield out.take();
    return;
  }
  let hasFlushed = false;
  let failed = false;
  const budget = new RowBudget(format.maxRows);
  out.ascii('{"results":[');
  for (const [statementId, statement] of statements.entries()) {
    budget.startStatement();
    if (statementId > 0) out.ascii(',');
    writer.openStatement(statementId);
    if (failed) {
      writer.closeStatement({
        hasSeries: false,
        messages: [],
        isPartial: false,
        error: NOT_EXECUTED,
      });
      continue;
    }
    const state = { hasSeries: false, isSeriesOpen: false, rowCount: 0 };
    let error: string | undefined;
    let faults: readonly Diagnostic[] = [];
    let mark = out.length;
    try {
      for (const batch of statement.run()) {
        if (isPause(batch)) {
          yield batch;
          continue;
        }
        const shown = budget.take(batch);
        if (shown === undefined) break;
        for (const part of parts(shown)) {
          mark = out.length;
          writeBatch(writer, part, state);
          hasFlushed ||= out.length >= PIECE_BYTES;
          yield out.length < PIECE_BYTES ? undefined : out.take();
        }
        if (!budget.hasCut) continue;
        writer.closeSeries(true);
        state.isSeriesOpen = false;
        break;
      }
      statement.onEnd?.({ rowCount: state.rowCount, error: undefined });
    } catch (cause) {
      statement.onEnd?.({ rowCount: state.rowCount, error: cause });
      if (cause instanceof UnsupportedFloat && !hasFlushed) {
        // Nothing has left yet, so the answer can still be what clients know.
        out.take();
        out.text(`${UNENCODABLE}${cause.message}\n`);
        yield out.take();
        return;
      }
      error = statementError(cause);
      faults = faultsOf(cause, statement.span);
      if (cause instanceof UnsupportedFloat) out.truncate(mark);
      failed = true;
    }
    if (state.isSeriesOpen) writer.closeSeries(false);
    writer.closeStatement({
      hasSeries: state.hasSeries,
      messages: statement.messages?.() ?? [],
      isPartial: error === undefined && (statement.isPartial?.() === true || budget.lacksSeries),
      error,
      diagnostics: diagnosticsOf(statement, faults, format),
    });
  }
  out.ascii(']}\n');
  yield out.take();
}

type SeriesState = { hasSeries: boolean; isSeriesOpen: boolean; rowCount: number };

/** A batch as parts that are small enough to be sent while the next one is printed. */
function* parts(batch: ResultBatch): Iterable<ResultBatch> {
  const most = Math.min(PART_ROWS, Math.ceil(PART_CELLS / batch.columns.length));
  yield sliceBatch(batch, 0, Math.min(batch.rowCount, most));
  for (let at = most; at < batch.rowCount; at += most) {
    const part = sliceBatch(batch, at, Math.min(batch.rowCount, at + most));
    yield { ...part, isContinuation: true };
  }
}

function writeBatch(writer: JsonWriter, batch: ResultBatch, state: SeriesState): void {
  if (!batch.isContinuation || !state.isSeriesOpen) {
    if (state.isSeriesOpen) writer.closeSeries(false);
    writer.openSeries(batch, !state.hasSeries);
    state.hasSeries = true;
    state.isSeriesOpen = true;
  }
  writer.rows(batch);
  state.rowCount += batch.rowCount;
}

/** One document per response chunk. */
export function* writeChunkedDocuments(
  statements: readonly StatementRun[],
  format: ResultFormat,
  chunkRows: number,
): Operator<Uint8Array> {
  const writer = new JsonWriter(format.epoch);
  const { out } = writer;
  let failed = false;
  if (statements.length === 0) out.ascii('{}\n');
  for (const [statementId, statement] of statements.entries()) {
    let rowCount = 0;
    let hasDocument = false;
    let error: string | undefined = failed ? NOT_EXECUTED : undefined;
    let faults: readonly Diagnostic[] = [];
    if (!failed) {
      try {
        for (const chunk of responseChunks(statement.run(), chunkRows)) {
          if (isPause(chunk)) {
            yield chunk;
            continue;
          }

          const [first] = chunk.pieces;
          if (first === undefined) continue;
          hasDocument = true;
          out.ascii('{"results":[');
          writer.openStatement(statementId);
          writer.openSeries(first, true);
          for (const piece of chunk.pieces) {
            writer.rows(piece);
            rowCount += piece.rowCount;
          }
          writer.closeSeries(chunk.continuesSeries);
          const messages = chunk.isLast ? (statement.messages?.() ?? []) : [];
          const isPartial = !chunk.isLast || statement.isPartial?.() === true;
          writer.closeStatement({ hasSeries: true, messages, isPartial, error: undefined });
          out.ascii(']}\n');
          yield out.take();
        }
        statement.onEnd?.({ rowCount, error: undefined });
      } catch (cause) {
        statement.onEnd?.({ rowCount, error: cause });
        out.take();
        if (cause instanceof UnsupportedFloat) {
          out.text(`${UNENCODABLE}${cause.message}\n`);
          yield out.take();
          return;
        }
        error = statementError(cause);
        faults = faultsOf(cause, statement.span);
        failed = true;
      }
    }
    const diagnostics = diagnosticsOf(statement, faults, format);
    if (hasDocument && error === undefined && diagnostics.length === 0) continue;
    out.ascii('{"results":[');
    writer.openStatement(statementId);
    const messages = error === undefined ? (statement.messages?.() ?? []) : [];
    const isPartial = error === undefined && statement.isPartial?.() === true;
    writer.closeStatement({ hasSeries: false, messages, isPartial, error, diagnostics });
    out.ascii(']}\n');
    yield out.take();
  }
  if (out.length > 0) yield out.take();
}

/** What the answer says about the text of a statement, when it is asked to. */
function diagnosticsOf(
  statement: StatementRun,
  faults: readonly Diagnostic[],
  { hasDiagnostics }: ResultFormat,
): readonly Diagnostic[] {
  return hasDiagnostics === true ? [...faults, ...(statement.findings?.() ?? [])] : [];
}

/** What an error says about the text; one that says nothing concerns the whole statement. */
function faultsOf(cause: unknown, span: Span | undefined): readonly Diagnostic[] {
  if (cause instanceof AppError) return located(cause, span);
  if (!(cause instanceof UnsupportedFloat) || span === undefined) return [];
  return [{ code: 'UNSUPPORTED_FLOAT', message: cause.message, span }];
}

/** The findings of an error, or the error itself as a finding about the text at `span`. */
export function located(error: AppError, span: Span | undefined): readonly Diagnostic[] {
  if (error.diagnostics.length > 0 || span === undefined) return error.diagnostics;
  return [{ code: error.code, message: error.message, span, hint: hintOf(error) }];
}

function hintOf(error: AppError): string | undefined {
  if (error.hint !== undefined || !(error instanceof LimitExceeded)) return error.hint;
  return error.setting === undefined ? 'ask for less' : `ask for less, or raise ${error.setting}`;
}

/** The text of a statement's error; what is no error of a statement is thrown on. */
export function statementError(cause: unknown): string {
  if (cause instanceof AppError || cause instanceof UnsupportedFloat) return cause.message;
  throw cause;
}
