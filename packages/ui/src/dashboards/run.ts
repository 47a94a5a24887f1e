// Runs the statements of a cell with the current span, width and variables, up to what can be
// shown, and cancels them when they are outdated.
import { QueryCursor } from '../api/query-stream.ts';
import { valueOf } from '../cells/option.ts';
import { MIN_INTERVAL, TIME_FROM, TIME_SHIFT } from '../cells/options/common.ts';
import { readFitted } from '../query/fit.ts';
import type { Cut } from '../query/fit.ts';
import { intervalOf, millisecondsOf } from '../query/macros.ts';
import { texts } from '../texts/texts.ts';
import { spanOf } from '../time/range.ts';
import type { Span } from '../time/range.ts';
import { kindOf } from '../cells/registry.ts';
import type { Labelled } from './frames.ts';
import { loadPatterns, matching } from './patterns.ts';
import type { Cell, CellQuery, Dashboard, Variable } from './model.ts';
import { withValues, withVariables } from './variables.ts';
import type { Chosen } from './variables.ts';

const t = texts.dashboards;

/** The context of a cell's queries. */
export type CellContext = {
  readonly database: string;
  readonly from: string;
  readonly to: string;
  readonly chosen: Chosen;
};

export type CellAnswer = {
  readonly statements: readonly Labelled[];
  readonly span: Span;
  readonly rowCount: number;
  /** Whether the result was cut off, and what each of its series lacks. */
  readonly isPartial: boolean;
  readonly cuts: readonly Cut[];
  /** Whether all of it can be drawn by the smallest and largest values of intervals. */
  readonly isReducible: boolean;
};

/** More points than a screen has pixels for any sensible number of lines. */
const CHART_ROWS_MAX = 40_000;
const TABLE_ROWS_MAX = 1000;

/** Rejects with the error; errors of single statements are in the answer. */
export async function runCell(
  cell: Pick<Cell, 'kind' | 'queries' | 'options'>,
  context: CellContext,
  options: {
    readonly widthPixels: number;
    readonly nowMs: number;
    readonly signal: AbortSignal;
    readonly isReduced?: boolean | undefined;
  },
): Promise<CellAnswer> {
  const { nowMs, signal, widthPixels } = options;
  const span = shownSpan(cell, context, nowMs);
  const rowsMax = kindOf(cell.kind).draws === 'rows' ? TABLE_ROWS_MAX : CHART_ROWS_MAX;
  const least = valueOf(cell, MIN_INTERVAL);
  const wanted = intervalOf(span.toMs - span.fromMs, widthPixels);
  const interval = millisecondsOf(least) > millisecondsOf(wanted) ? least : wanted;
  const run = async ({ query, letter }: { readonly query: CellQuery; readonly letter: string }) => {
    const text = withVariables(query.text, context.chosen);
    const database = query.database === '' ? context.database : query.database;
    const key = JSON.stringify([database, context.from, context.to]);
    const cursors: QueryCursor[] = [];
    // Rows beyond the limit must not wait in the database.
    const cancel = (): void => cursors.forEach((cursor) => cursor.cancel());
    signal.addEventListener('abort', cancel);
    try {
      const fit = { ...span, text, interval, key, rowsMax, isReduced: options.isReduced };
      const { answer, cut, isReducible } = await readFitted(fit, (sent) => {
        signal.throwIfAborted();
        const cursor = new QueryCursor({ text: sent, database });
        cursors.push(cursor);
        return cursor;
      });
      if (answer.error !== undefined) throw new Error(answer.error);
      return { answer, cut, isReducible, letter, label: withValues(query.label, context.chosen) };
    } finally {
      signal.removeEventListener('abort', cancel);
      cancel();
    }
  };
  const asked = cell.queries
    .map((query, i) => ({ query, letter: letterOf(i) }))
    .filter(({ query }) => query.text.trim() !== '' && query.isHidden !== true);
  const [answers] = await Promise.all([Promise.all(asked.map(run)), loadPatterns(cell.options)]);
  return {
    statements: answers.flatMap(({ answer, label, letter }) =>
      answer.statements.map((statement) => ({ ...statement, label, letter })),
    ),
    span,
    rowCount: answers.reduce((sum, { answer }) => sum + answer.rowCount, 0),
    isPartial: answers.some(({ answer }) => answer.hasMore),
    cuts: answers.flatMap(({ cut }) => cut ?? []),
    isReducible: answers.every(({ isReducible }) => isReducible),
  };
}

/** Queries are lettered A, B, … as in other systems. */
const letterOf = (index: number): string => String.fromCodePoint('A'.codePointAt(0)! + index);

/** The dashboard's span, or the cell's own, shifted if the cell says so. */
function shownSpan(cell: Pick<Cell, 'options'>, context: CellContext, nowMs: number): Span {
  const own = valueOf(cell, TIME_FROM);
  const range = own === '' ? context : { from: `now-${own}`, to: 'now' };
  const span = spanOf(range, nowMs);
  if (span === undefined) throw new Error(t.noSpan);
  const shiftMs = millisecondsOf(valueOf(cell, TIME_SHIFT));
  return { fromMs: span.fromMs - shiftMs, toMs: span.toMs - shiftMs };
}

/**
 * Values that a variable's statement offers: the distinct values of the last column other than the
 * time.
 */
export async function runVariable(
  { query, pattern }: Pick<Variable, 'query' | 'pattern'>,
  context: CellContext,
  options: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const cell = {
    kind: 'table',
    queries: [{ text: query, database: '', label: '' }],
    options: {},
  };
  const { statements } = await runCell(cell, context, { ...options, widthPixels: 1000 });
  const error = statements.find((one) => one.error !== undefined)?.error;
  if (error !== undefined) throw new Error(error);
  const values = statements.flatMap(({ series }) =>
    series.flatMap(({ columns, rows }) => {
      // SHOW TAG VALUES returns key and value; SHOW MEASUREMENTS and SHOW FIELD KEYS the name
      // first.
      const named = columns.indexOf('value');
      const at = named >= 0 ? named : columns.findIndex((column) => column !== 'time');
      return rows.map((row) => String(row[at] ?? ''));
    }),
  );
  const wanted = pattern === '' ? values : await matching(values, pattern);
  return [...new Set(wanted)].filter((value) => value !== '');
}

/** The context of a dashboard, with the parameters of the address. */
export function contextOf(
  dashboard: Pick<Dashboard, 'database' | 'from' | 'to'>,
  range: { readonly from: string; readonly to: string },
  chosen: Chosen,
): CellContext {
  return { database: dashboard.database, ...range, chosen };
}
