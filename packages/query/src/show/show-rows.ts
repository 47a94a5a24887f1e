// Output of SHOW statements: columns of strings become series piece by piece, with LIMIT and OFFSET
// applied as they arrive, so that a result of any size takes the memory of one piece.
import type { ShowClauses } from '@tidemark/influxql';

import { rowLimits } from '../analyse/bound.ts';
import { RowWindow } from '../batch/row-window.ts';
import type { ResultBatch } from '../result.ts';
import { mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';

/** Rows of one series; pieces of one series follow each other. */
export type RowPiece = {
  /** Absent in answers without a name. */
  readonly name?: string | undefined;
  /** One list of cells per column, all of one length. */
  readonly columns: readonly (readonly string[])[];
};

export type RowLimits = Pick<ShowClauses, 'limit' | 'offset'>;

/**
 * The series that consist of the pieces. LIMIT and OFFSET count the rows of each, as recorded.
 * Series without rows are left out.
 */
export function seriesOf(
  pieces: Operator<RowPiece>,
  columns: readonly string[],
  limits: RowLimits,
): Operator<ResultBatch> {
  let rows: RowWindow | undefined;
  let name: string | undefined;
  let isContinuation = false;
  return mapBatches(pieces, (piece): ResultBatch | undefined => {
    if (rows === undefined || piece.name !== name) {
      rows = new RowWindow(rowLimits(limits));
      name = piece.name;
      isContinuation = false;
    }
    const [start, end] = rows.take(piece.columns[0]?.length ?? 0);
    if (start === end) return undefined;
    const batch: ResultBatch = {
      name,
      columns,
      rowCount: end - start,
      values: piece.columns.map((cells) => ({ type: 'mixed', values: cells.slice(start, end) })),
      isContinuation,
    };
    isContinuation = true;
    return batch;
  });
}

/**
 * The one series that consists of pieces with the same name: nothing is read after its last row.
 */
export function oneSeriesOf(
  pieces: Operator<RowPiece>,
  columns: readonly string[],
  limits: RowLimits,
): Operator<ResultBatch> {
  const most = Number(limits.limit ?? 0n);
  let count = 0;
  const counted = (batch: ResultBatch): ResultBatch => {
    count += batch.rowCount;
    return batch;
  };
  return mapBatches(seriesOf(pieces, columns, limits), counted, () => most > 0 && count === most);
}

/** Rows that are needed for LIMIT and OFFSET; `undefined` when all are. */
export function rowsNeeded({ limit, offset }: RowLimits): number | undefined {
  return (limit ?? 0n) === 0n ? undefined : Number(offset ?? 0n) + Number(limit);
}
