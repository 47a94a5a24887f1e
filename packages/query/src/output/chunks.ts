// Cuts the result of a statement into parts: small ones, each within one response chunk, and none
// beyond the maximum number of rows of a result.
import { longestText, textBytes, textCount, textLength } from '@tidemark/core';
import type { StringColumn, Texts } from '@tidemark/core';

import { sliceColumn } from '../batch/column-ops.ts';
import type { MixedColumn, ResultBatch, ResultColumn } from '../result.ts';
import { flatMapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';

/** Small enough to be sent while the next part is printed. */
const PART_ROWS = 2048;
/**
 * Answers of many columns are printed in parts of fewer rows: their text fits into a buffer that is
 * reused (`buffer-pool.ts`).
 */
const PART_CELLS = 1 << 13;
/** Of thousands of columns, each part costs as much as printing a few of its rows. */
const PART_ROWS_MIN = 8;
/** Texts of a part: long ones would fill a buffer that is not reused. */
const PART_TEXT_BYTES = 256 << 10;
/**
 * Texts of a response chunk, which is sent as a whole: with texts of this size it has fewer rows
 * than requested.
 */
const CHUNK_TEXT_BYTES = 4 << 20;

/** Some rows of one series. */
export type AnswerPart = {
  readonly batch: ResultBatch;
  /** A response chunk ends before it: that chunk has all its rows, or its series has ended. */
  readonly startsChunk: boolean;
};

/**
 * The parts of an answer. A response chunk is at most `chunkRows` rows of one series; without it,
 * there is only one.
 */
export function answerParts(
  answer: Operator<ResultBatch>,
  budget: RowBudget,
  chunkRows: number | undefined,
): Operator<AnswerPart> {
  const parts = new AnswerParts(budget, chunkRows);
  return flatMapBatches(
    answer,
    (batch) => parts.of(batch),
    () => budget.isOver,
  );
}

class AnswerParts {
  readonly #budget: RowBudget;
  readonly #chunkRows: number | undefined;
  #isFirst = true;
  /** Rows and texts that the present chunk has room for. */
  #room: number;
  #textRoom = CHUNK_TEXT_BYTES;

  constructor(budget: RowBudget, chunkRows: number | undefined) {
    this.#budget = budget;
    this.#chunkRows = chunkRows;
    this.#room = chunkRows ?? Number.POSITIVE_INFINITY;
  }

  *of(answered: ResultBatch): Operator<AnswerPart> {
    const batch = this.#budget.take(answered);
    if (batch === undefined) return;
    const ofCells = Math.ceil(PART_CELLS / batch.columns.length);
    const most = Math.min(PART_ROWS, Math.max(PART_ROWS_MIN, ofCells));
    const texts = new RowTexts(batch);
    let { isContinuation } = batch;
    let at = 0;
    do {
      const isFull = (this.#room === 0 || this.#textRoom <= 0) && batch.rowCount > 0;
      const startsChunk =
        this.#chunkRows !== undefined && !this.#isFirst && (isFull || !isContinuation);
      if (startsChunk) {
        this.#room = this.#chunkRows;
        this.#textRoom = CHUNK_TEXT_BYTES;
      }
      const next = Math.min(batch.rowCount, at + Math.min(most, this.#room));
      const { end, bytes } = texts.take(at, next);
      this.#textRoom -= bytes;
      const part = sliceBatch(batch, at, end);
      yield { batch: at === 0 ? part : { ...part, isContinuation }, startsChunk };
      this.#isFirst = false;
      isContinuation = true;
      this.#room -= end - at;
      at = end;
    } while (at < batch.rowCount);
  }
}

/** Size of the texts of rows: examined row by row only if they could fill a part. */
class RowTexts {
  readonly #texts: StringColumn[] = [];
  readonly #mixed: MixedColumn[] = [];
  /** Maximum size of the texts of a row. */
  #rowBound = 0;

  constructor({ values, rowCount }: ResultBatch) {
    for (const column of values) {
      if (column.type === 'string') {
        this.#texts.push(column);
        this.#rowBound += textBound(column.texts, rowCount);
      } else if (column.type === 'mixed') {
        this.#mixed.push(column);
        this.#rowBound = Number.POSITIVE_INFINITY;
      }
    }
  }

  /** As many rows from `start` on as a part may have, at least one, and their maximum size. */
  take(start: number, limit: number): { readonly end: number; readonly bytes: number } {
    const bound = this.#rowBound === 0 ? 0 : this.#rowBound * (limit - start);
    if (bound <= PART_TEXT_BYTES) return { end: limit, bytes: bound };
    let bytes = 0;
    let end = start;
    while (end < limit) {
      const added = this.#bytesOf(end);
      if (bytes + added > PART_TEXT_BYTES && end > start) break;
      bytes += added;
      end++;
    }
    return { end, bytes };
  }

  #bytesOf(row: number): number {
    let bytes = 0;
    for (const { codes, texts, valid } of this.#texts) {
      if (valid === undefined || valid[row] === 1) bytes += textLength(texts, codes[row]!);
    }
    for (const { values } of this.#mixed) {
      const value = values[row];
      if (typeof value === 'string') bytes += textBytes(value);
    }
    return bytes;
  }
}

/** Size of the longest text. Infinite for more texts than rows: then the rows are examined. */
function textBound(texts: Texts, rowCount: number): number {
  return textCount(texts) > rowCount ? Number.POSITIVE_INFINITY : longestText(texts);
}

/** Rows that an answer may still have, for all its statements together: `max-row-limit`. */
export class RowBudget {
  #left: number;
  #hasCut = false;
  #isOver = false;

  /** 0 and absent mean no limit. */
  constructor(maxRows: number | undefined) {
    this.#left = maxRows === undefined || maxRows === 0 ? Number.POSITIVE_INFINITY : maxRows;
  }

  get isLimited(): boolean {
    return this.#left !== Number.POSITIVE_INFINITY;
  }

  /**
   * The next statement begins. It is run even if nothing is left: its effects count, if not its
   * rows.
   */
  startStatement(): void {
    this.#hasCut = false;
    this.#isOver = false;
  }

  /** Rows of the series that was taken last are left out. */
  get hasCut(): boolean {
    return this.#hasCut;
  }

  /** Something of the statement has been left out: no more of it follows. */
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
function sliceBatch(batch: ResultBatch, start: number, end: number): ResultBatch {
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
