// Results as charts: every numeric column of every series is a line.
import type { Cell } from '@tidemark/client';

import type { AnswerSeries, StatementAnswer } from '../api/query-stream.ts';
import type { ChartData, ChartSeries } from '../charts/data.ts';

/** Milliseconds of a time cell, whatever its epoch. NaN if it is no time. */
function timeOf(cell: Cell | undefined): number {
  if (typeof cell === 'string') return Date.parse(cell);
  return typeof cell === 'number' ? cell : Number(cell);
}

const valueOf = (cell: Cell | undefined): number => {
  if (typeof cell === 'number') return cell;
  if (typeof cell === 'bigint') return Number(cell);
  return typeof cell === 'boolean' ? Number(cell) : NaN;
};

/** Such as `room.celsius name=kitchen`: as much as distinguishes the lines. */
function labelOf(series: AnswerSeries, column: string, isNamed: boolean): string {
  const tags = Object.entries(series.tags).map(([key, value]) => `${key}=${value}`);
  const name = isNamed ? `${series.name}.${column}` : column;
  return [name, ...tags].join(' ');
}

/** Lines of a statement's answer; none without numeric columns or times. */
export function chartOf(statement: Pick<StatementAnswer, 'series'>): ChartData {
  const isNamed = new Set(statement.series.map(({ name }) => name)).size > 1;
  const lines: ChartSeries[] = [];
  for (const one of statement.series) {
    const timeColumn = one.columns.indexOf('time');
    if (timeColumn < 0) continue;
    // Answers may be in descending order; charts are ascending.
    const rows = isDescending(one.rows, timeColumn) ? one.rows.toReversed() : one.rows;
    const times = Float64Array.from(rows, (row) => timeOf(row[timeColumn]));
    one.columns.forEach((column, at) => {
      if (at === timeColumn || !rows.some((row) => isNumeric(row[at]))) return;
      const values = Float64Array.from(rows, (row) => valueOf(row[at]));
      const source = { measurement: one.name, column, tags: one.tags };
      const label = labelOf(one, column, isNamed);
      lines.push({ label, source, ...compact(times, values, rows, at) });
    });
  }
  return { series: lines };
}

const isNumeric = (cell: Cell | undefined): boolean =>
  typeof cell === 'number' || typeof cell === 'bigint';

function isDescending(rows: AnswerSeries['rows'], timeColumn: number): boolean {
  const first = rows[0]?.[timeColumn];
  const last = rows.at(-1)?.[timeColumn];
  return rows.length > 1 && timeOf(first) > timeOf(last);
}

/**
 * Windows without a value interrupt the line. Raw rows exist for each point of any field, so there
 * a missing value only means that another field was written. A row of windows has a value or
 * nothing in all of its columns.
 */
function compact(
  times: Float64Array,
  values: Float64Array,
  rows: AnswerSeries['rows'],
  at: number,
): Pick<ChartSeries, 'times' | 'values'> {
  const isOfOther = (row: readonly Cell[]): boolean =>
    row[at] === null && row.some((cell, i) => i !== at && isNumeric(cell));
  if (!rows.some(isOfOther)) return { times, values };
  const kept = [...rows.keys()].filter((i) => !isOfOther(rows[i] ?? []));
  return {
    times: Float64Array.from(kept, (i) => times[i] ?? NaN),
    values: Float64Array.from(kept, (i) => values[i] ?? NaN),
  };
}
