// Reduces many points of a statement in the database: the smallest and largest of every pixel
// column, so that no extreme is hidden and no more is sent than can be seen.
import type { Expression, SelectField, SelectStatement } from '@tidemark/influxql';

import type { AnswerSeries, StatementAnswer } from '../api/query-stream.ts';

const NO_SPAN = { start: 0, end: 0 };
const MS_NANOS = 1_000_000n;

/**
 * The reducing statement, with windows of `intervalMs`; `undefined` if it selects more than fields.
 */
export function outlineOfSelect(
  select: SelectStatement,
  intervalMs: number,
): SelectStatement | undefined {
  const isRaw = ({ expression }: SelectField): boolean =>
    expression.kind === 'reference' || expression.kind === 'wildcard';
  const hasWindows = select.dimensions.some(({ kind }) => kind === 'call');
  if (hasWindows || !select.fields.every(isRaw)) return undefined;
  const fields = select.fields.flatMap(({ expression, alias }) =>
    ['min', 'max'].map((name): SelectField => ({
      expression: { kind: 'call', name, arguments: [expression], span: NO_SPAN },
      alias: expression.kind === 'wildcard' ? undefined : `${name}_${alias ?? nameOf(expression)}`,
      span: NO_SPAN,
    })),
  );
  const nanos = BigInt(Math.max(1, Math.round(intervalMs))) * MS_NANOS;
  const window: Expression = {
    kind: 'call',
    name: 'time',
    arguments: [{ kind: 'duration', nanos, span: NO_SPAN }],
    span: NO_SPAN,
  };
  return {
    ...select,
    fields,
    dimensions: [window, ...select.dimensions],
    fill: { kind: 'none' },
    orderBy: undefined,
    shape: undefined,
  };
}

const nameOf = (expression: Expression): string =>
  expression.kind === 'reference' ? expression.name : '';

/**
 * The answer to such a statement as points again: of each window its smallest value, and half a
 * window later its largest, so that lines go through both.
 */
export function unfolded(statement: StatementAnswer, intervalMs: number): StatementAnswer {
  return {
    ...statement,
    series: statement.series.map((series) => unfoldedSeries(series, intervalMs)),
  };
}

function unfoldedSeries(series: AnswerSeries, intervalMs: number): AnswerSeries {
  const { columns, rows } = series;
  const names = columns.flatMap((column) => (column.startsWith('min_') ? [column.slice(4)] : []));
  const timeAt = columns.indexOf('time');
  const pick = (row: AnswerSeries['rows'][number], call: string) =>
    names.map((name) => row[columns.indexOf(`${call}_${name}`)] ?? null);
  return {
    ...series,
    columns: ['time', ...names],
    rows: rows.flatMap((row) => {
      const time = String(row[timeAt]);
      const later = new Date(Date.parse(time) + intervalMs / 2).toISOString();
      return [
        [time, ...pick(row, 'min')],
        [later, ...pick(row, 'max')],
      ];
    }),
  };
}
