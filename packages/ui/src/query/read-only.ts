// Which statements a page may send by itself. A link, a refresh or a plan only reads; only a user
// who presses Run can change something.
import { parseQuery } from '@tidemark/influxql';
import type { Statement } from '@tidemark/influxql';

import { expandMacros } from './macros.ts';

const ANY_SPAN = { fromMs: 0, toMs: 1, interval: '1m' };

/** Whether a text only reads. A text that is not understood does not count as reading. */
export function isReadOnly(text: string): boolean {
  const { query, error } = parseQuery(expandMacros(text, ANY_SPAN).text);
  return error === undefined && query.statements.every(isReading);
}

function isReading(statement: Statement): boolean {
  return (
    statement.kind.startsWith('show-') ||
    (statement.kind === 'select' && statement.into === undefined) ||
    (statement.kind === 'explain' && statement.statement.into === undefined)
  );
}

/** What asks for plans, or why nothing does. */
export type Explanation = { readonly text: string } | { readonly refusal: string };

/**
 * The text that asks for the plan of every query of a text. Explaining runs what it explains, so a
 * text with a statement that would change something is refused as a whole. `text` has values in
 * place of macros; `refusal` is said of a statement that is no query.
 */
export function explanationOf(text: string, refusal: string): Explanation {
  const { query, error } = parseQuery(text);
  if (error !== undefined) return { refusal: error };
  const queries = query.statements.filter(
    (statement) => isReading(statement) && !statement.kind.startsWith('show-'),
  );
  if (queries.length === 0 || queries.length < query.statements.length) return { refusal };
  const explained = queries.map((statement) => {
    const own = text.slice(statement.span.start, statement.span.end);
    return statement.kind === 'explain' ? own : `EXPLAIN ANALYZE ${own}`;
  });
  return { text: explained.join('; ') };
}
