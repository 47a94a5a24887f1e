// Which statements a page may send by itself. A link, a refresh or a plan only reads; only a user
// who presses Run can change something.
import { parseQuery } from '@tidemark/influxql';
import type { Statement } from '@tidemark/influxql';

import { expandMacros } from './macros.ts';

const ANY_SPAN = { fromMs: 0, toMs: 1, interval: '1m' };

/** Whether a text only reads. Invalid texts do not count as reading. */
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

/** The text that requests plans, or why there is none. */
export type Explanation = { readonly text: string } | { readonly refusal: string };

/**
 * The text that requests the plan of every query of a text. Explaining runs the query, so a text
 * with a statement that would change something is refused as a whole. In `text` macros are replaced
 * by values; `refusal` is the reason for statements that are no queries.
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
