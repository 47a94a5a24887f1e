// MessagePack answers: the structure of the JSON ones. Lengths stand before their contents, so that the rows of a
// statement (of a chunk, when the answer is chunked) are gathered before they are written.
import { columnValue } from '@tidemark/core';

import { gatheredLimitExceeded, MAX_GATHERED_ROWS } from '../limits.ts';
import type { MixedValue, ResultBatch, ResultColumn, ResultMessage } from '../result.ts';
import { responseChunks, RowBudget } from './chunks.ts';
import { MsgpackBuffer } from './msgpack-buffer.ts';
import { EPOCH_NANOS } from './time-text.ts';
import { statementError } from './write-json.ts';
import type { Epoch, ResultFormat, StatementRun } from './write-results.ts';
import { isPause } from '../operator.ts';
import type { Operator, Steps } from '../operator.ts';

type Series = { readonly pieces: ResultBatch[]; isPartial: boolean };

type Result = {
  readonly statementId: number;
  readonly series: readonly Series[];
  readonly messages: readonly ResultMessage[];
  readonly isPartial: boolean;
  readonly error: string | undefined;
};

/** Runs the statements and yields their answers. */
export function* writeMsgpack(
  statements: readonly StatementRun[],
  format: ResultFormat,
): Operator<Uint8Array> {
  const writer = new MsgpackWriter(format.epoch);
  const gathered: Result[] = [];
  let failed = false;
  const budget = new RowBudget(format.maxRows);
  for (const [statementId, statement] of statements.entries()) {
    budget.startStatement();
    const base = { statementId, series: [], messages: [], isPartial: false, error: undefined };
    if (failed) {
      gathered.push({ ...base, error: 'not executed' });
      continue;
    }
    let rowCount = 0;
    try {
      if (format.chunkRows === undefined) {
        const series = yield* gather(statement.run(), budget);
        rowCount = countRows(series);
        const end = endOf(statement);
        gathered.push({ ...base, series, ...end, isPartial: end.isPartial || budget.lacksSeries });
      } else {
        let hasChunk = false;
        for (const chunk of responseChunks(statement.run(), format.chunkRows)) {
          if (isPause(chunk)) {
            yield chunk;
            continue;
          }

          const series = [{ pieces: [...chunk.pieces], isPartial: chunk.continuesSeries }];
          rowCount += countRows(series);
          hasChunk = true;
          const end = chunk.isLast ? endOf(statement) : { messages: [], isPartial: false };
          const isPartial = !chunk.isLast || end.isPartial;
          yield writer.document([{ ...base, series, ...end, isPartial }]);
        }
        if (!hasChunk) yield writer.document([{ ...base, ...endOf(statement) }]);
      }
      statement.onEnd?.({ rowCount, error: undefined });
    } catch (cause) {
      statement.onEnd?.({ rowCount, error: cause });
      gathered.push({ ...base, error: statementError(cause) });
      failed = true;
    }
  }
  if (format.chunkRows === undefined) yield writer.document(gathered);
  else for (const result of gathered) yield writer.document([result]);
}

/** What a statement says of its answer when it has ended. */
function endOf({ messages, isPartial }: StatementRun): Pick<Result, 'messages' | 'isPartial'> {
  return { messages: messages?.() ?? [], isPartial: isPartial?.() === true };
}

function countRows(series: readonly Series[]): number {
  return series.reduce(
    (sum, one) => sum + one.pieces.reduce((rows, piece) => rows + piece.rowCount, 0),
    0,
  );
}

function* gather(answer: Operator<ResultBatch>, budget: RowBudget): Steps<readonly Series[]> {
  const series: Series[] = [];
  let count = 0;
  for (const next of answer) {
    if (isPause(next)) {
      yield next;
      continue;
    }

    const batch = budget.take(next);
    if (batch === undefined) break;
    count += batch.rowCount;
    if (count > MAX_GATHERED_ROWS) throw gatheredLimitExceeded();
    const last = series.at(-1);
    if (batch.isContinuation && last !== undefined) {
      last.pieces.push(batch);
      last.isPartial = budget.hasCut;
    } else series.push({ pieces: [batch], isPartial: budget.hasCut });
    if (budget.isOver) break;
  }
  return series;
}

class MsgpackWriter {
  readonly #buffer = new MsgpackBuffer();
  readonly #epoch: Epoch | undefined;

  constructor(epoch: Epoch | undefined) {
    this.#epoch = epoch;
  }

  document(results: readonly Result[]): Uint8Array {
    const buffer = this.#buffer;
    buffer.mapHeader(1);
    buffer.string('results');
    buffer.arrayHeader(results.length);
    for (const result of results) this.#result(result);
    return buffer.out.take();
  }

  #result(result: Result): void {
    const buffer = this.#buffer;
    const { series, messages, isPartial, error } = result;
    buffer.mapHeader(
      // Series, were there none, or an error.
      2 + Number(messages.length > 0) + Number(isPartial),
    );
    buffer.string('statement_id');
    buffer.integer(BigInt(result.statementId));
    if (messages.length > 0) {
      buffer.string('messages');
      buffer.arrayHeader(messages.length);
      for (const { level, text } of messages) {
        buffer.mapHeader(2);
        this.#pair('level', level);
        this.#pair('text', text);
      }
    }
    if (error === undefined) {
      buffer.string('series');
      buffer.arrayHeader(series.length);
      for (const one of series) this.#series(one);
    }
    if (isPartial) {
      buffer.string('partial');
      buffer.boolean(true);
    }
    if (error !== undefined) this.#pair('error', error);
  }

  #pair(key: string, value: string): void {
    this.#buffer.string(key);
    this.#buffer.string(value);
  }

  #series({ pieces, isPartial }: Series): void {
    const [first] = pieces;
    if (first === undefined) return;
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
    if (isPartial) {
      buffer.string('partial');
      buffer.boolean(true);
    }
  }

  #cell(column: ResultColumn, row: number, epoch: Epoch | undefined): void {
    switch (column.type) {
      case 'time': {
        const time = column.values[row]!;
        if (epoch === undefined) this.#buffer.time(time);
        else this.#buffer.integer(time / EPOCH_NANOS[epoch]);
        return;
      }
      case 'mixed':
        return this.#value(column.values[row] ?? null);
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
