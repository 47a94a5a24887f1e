// Runs the statements of a cell: with the span, the width and the variables of the moment, no
// further than what can be shown, and not on when something else is wanted.
import { parseQuery } from '@tidemark/influxql';

import { QueryCursor } from '../api/query-stream.ts';
import type { StatementAnswer } from '../api/query-stream.ts';
import { expandMacros, intervalOf } from '../query/macros.ts';
import { isReadOnly } from '../query/read-only.ts';
import { texts } from '../texts/texts.ts';
import { spanOf } from '../time/range.ts';
import type { Span } from '../time/range.ts';
import type { Cell, CellQuery, Dashboard, Variable } from './model.ts';
import { withVariables } from './variables.ts';
import type { Chosen } from './variables.ts';

const t = texts.dashboards;

/** What a cell is asked with. */
export type CellContext = {
  readonly database: string;
  readonly from: string;
  readonly to: string;
  readonly chosen: Chosen;
};

export type CellAnswer = {
  readonly statements: readonly (StatementAnswer & { readonly label: string })[];
  readonly span: Span;
  /** Whether rows were left in the database. */
  readonly isPartial: boolean;
};

/** More than a screen has pixels for any sensible number of lines. */
const CHART_ROWS_MAX = 40_000;
const TABLE_ROWS_MAX = 1000;

/**
 * Rejects with what went wrong; a statement that the database refuses has its error in the answer.
 */
export async function runCell(
  cell: Pick<Cell, 'kind' | 'queries'>,
  context: CellContext,
  options: { readonly widthPixels: number; readonly nowMs: number; readonly signal: AbortSignal },
): Promise<CellAnswer> {
  const { nowMs, signal, widthPixels } = options;
  const span = spanOf(context, nowMs);
  if (span === undefined) throw new Error(t.noSpan);
  const rowsMax = cell.kind === 'table' ? TABLE_ROWS_MAX : CHART_ROWS_MAX;
  const interval = intervalOf(span.toMs - span.fromMs, widthPixels);
  const run = async (query: CellQuery) => {
    const text = expandMacros(withVariables(query.text, context.chosen), {
      ...span,
      interval,
    }).text;
    // Who looks at a dashboard must not change anything by it. What is no statement is refused by
    // the database, which says why.
    if (parseQuery(text).error === undefined && !isReadOnly(text)) throw new Error(t.notReadOnly);
    const database = query.database === '' ? context.database : query.database;
    const cursor = new QueryCursor({ text, database });
    const cancel = (): void => cursor.cancel();
    signal.addEventListener('abort', cancel);
    try {
      const answer = await cursor.read(rowsMax);
      if (answer.error !== undefined) throw new Error(answer.error);
      return { answer, label: query.label };
    } finally {
      signal.removeEventListener('abort', cancel);
      // What was not read is not wanted: it must not wait in the database.
      cursor.cancel();
    }
  };
  const answers = await Promise.all(cell.queries.filter(({ text }) => text.trim() !== '').map(run));
  return {
    statements: answers.flatMap(({ answer, label }) =>
      answer.statements.map((statement) => ({ ...statement, label })),
    ),
    span,
    isPartial: answers.some(({ answer }) => answer.hasMore),
  };
}

/** Values that a variable's statement offers: the last column that is no time, each once. */
export async function runVariable(
  { query, pattern }: Pick<Variable, 'query' | 'pattern'>,
  context: CellContext,
  options: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const cell = { kind: 'table' as const, queries: [{ text: query, database: '', label: '' }] };
  const { statements } = await runCell(cell, context, { ...options, widthPixels: 1000 });
  const error = statements.find((one) => one.error !== undefined)?.error;
  if (error !== undefined) throw new Error(error);
  const values = statements.flatMap(({ series }) =>
    series.flatMap(({ columns, rows }) => {
      // SHOW TAG VALUES answers key and value; SHOW MEASUREMENTS and SHOW FIELD KEYS the name
      // first.
      const named = columns.indexOf('value');
      const at = named >= 0 ? named : columns.findIndex((column) => column !== 'time');
      return rows.map((row) => String(row[at] ?? ''));
    }),
  );
  const wanted = pattern === '' ? values : await matching(values, pattern);
  return [...new Set(wanted)].filter((value) => value !== '');
}

/**
 * Values that match `/pattern/flags`, or what its group `value`, else its first group, matches of
 * them. Rejects with what is wrong with the pattern.
 */
async function matching(values: readonly string[], written: string): Promise<readonly string[]> {
  // Loaded when it is needed. Its time is linear: dashboards come from strangers.
  const { RE2JS } = await import('re2js');
  const [, pattern = written, flags = ''] = /^\/(.*)\/(\w*)$/s.exec(written) ?? [];
  const regex = RE2JS.compile(pattern, flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0);
  const group = regex.namedGroups()['value'] ?? Math.min(1, regex.groupCount());
  return values.flatMap((value) => {
    const matcher = regex.matcher(value);
    return matcher.find() ? [matcher.group(group) ?? ''] : [];
  });
}

/** The context of a dashboard with what the address says. */
export function contextOf(
  dashboard: Pick<Dashboard, 'database' | 'from' | 'to'>,
  range: { readonly from: string; readonly to: string },
  chosen: Chosen,
): CellContext {
  return { database: dashboard.database, ...range, chosen };
}
