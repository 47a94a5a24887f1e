// Cuts the series of a statement into response chunks: at most so many rows of one series each; and ends an answer that has
// as many rows as one may have.
import { sliceColumn } from '../batch/column-ops.ts';
import type { ResultBatch, ResultColumn } from '../result.ts';
import { isPause } from '../operator.ts';
import type { Operator } from '../operator.ts';

/** Rows of one series that are written together, and what follows them. */
export type ResponseChunk = {
  readonly pieces: readonly ResultBatch[];
  /** Further rows of the same series follow. */
  readonly continuesSeries: boolean;
  /** Nothing follows in this statement. */
  readonly isLast: boolean;
};

/** Chunks of at most `rows` rows. */
export function* responseChunks(
  answer: Operator<ResultBatch>,
  rows: number,
): Operator<ResponseChunk> {
  let pieces: ResultBatch[] = [];
  let count = 0;
  for (const batch of answer) {
    if (isPause(batch)) {
      yield batch;
      continue;
    }

    if (!batch.isContinuation && pieces.length > 0) {
      yield { pieces, continuesSeries: false, isLast: false };
      pieces = [];
      count = 0;
    }
    if (batch.rowCount === 0) pieces.push(batch);
    for (let at = 0; at < batch.rowCount;) {
      if (count === rows) {
        yield { pieces, continuesSeries: true, isLast: false };
        pieces = [];
        count = 0;
      }
      const take = Math.min(rows - count, batch.rowCount - at);
      pieces.push(sliceBatch(batch, at, at + take));
      count += take;
      at += take;
    }
  }
  if (pieces.length > 0) yield { pieces, continuesSeries: false, isLast: true };
}

/** Rows that an answer may still have, of all its statements together: `max-row-limit`. */
export class RowBudget {
  #left: number;
  #hasCut = false;
  #isOver = false;

  /** 0 and absent are no limit. */
  constructor(maxRows: number | undefined) {
    this.#left = maxRows === undefined || maxRows === 0 ? Number.POSITIVE_INFINITY : maxRows;
  }

  /** The next statement begins. It is run whatever is left: what it does counts, if not what it answers. */
  startStatement(): void {
    this.#hasCut = false;
    this.#isOver = false;
  }

  /** Rows of the series that was taken last are left out. */
  get hasCut(): boolean {
    return this.#hasCut;
  }

  /** Something of the statement has been left out: nothing of it follows. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Series of the statement are left out as a whole. */
  get lacksSeries(): boolean {
    return this.#isOver && !this.#hasCut;
  }

  /** As much of a batch as there is room for; nothing of a further series when there is none. */
  take(batch: ResultBatch): ResultBatch | undefined {
    if (this.#left === 0 && !batch.isContinuation && batch.rowCount > 0) {
      this.#isOver = true;
      return undefined;
    }
    const shown = Math.min(this.#left, batch.rowCount);
    this.#left -= shown;
    if (shown === batch.rowCount) return batch;
    this.#hasCut = true;
    this.#isOver = true;
    return sliceBatch(batch, 0, shown);
  }
}

/** Rows `[start, end)` of a batch. */
export function sliceBatch(batch: ResultBatch, start: number, end: number): ResultBatch {
  if (start === 0 && end === batch.rowCount) return batch;
  return {
    ...batch,
    rowCount: end - start,
    values: batch.values.map((column) => sliceResultColumn(column, start, end)),
  };
}

function sliceResultColumn(column: ResultColumn, start: number, end: number): ResultColumn {
  switch (column.type) {
    case 'time':
      return {
        type: 'time',
        values: column.values.subarray(start, end),
        valid: column.valid?.subarray(start, end),
      };
    case 'mixed':
      return { type: 'mixed', values: column.values.slice(start, end) };
    default:
      return sliceColumn(column, start, end);
  }
}
