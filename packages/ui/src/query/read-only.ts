// Which statements a page may send by itself. Links, refreshes, previews and plans only read; only
// a user who presses Run can change something.
import { parseQuery } from '@tidemark/influxql';
import type { Statement } from '@tidemark/influxql';

import { texts } from '../texts/texts.ts';
import { expandMacros } from './macros.ts';

const t = texts.common;
const ANY_SPAN = { fromMs: 0, toMs: 1, interval: '1m' };

/** The statements of a text that only reads, or why a page does not send it by itself. */
export type Reading =
  | { readonly text: string; readonly statements: readonly Statement[] }
  | { readonly refusal: string };

/** Reads a text that may contain macros. An invalid text is not sent either. */
export function readingOf(given: string): Reading {
  const { text } = expandMacros(given, ANY_SPAN);
  const { query, error } = parseQuery(text);
  if (error !== undefined) return { refusal: error };
  const changing = query.statements.find((statement) => !isReading(statement));
  if (changing !== undefined) {
    return { refusal: t.notReadOnly(text.slice(changing.span.start, changing.span.end)) };
  }
  return { text, statements: query.statements };
}

/** Whether a text only reads. Invalid texts do not count as reading. */
export const isReadOnly = (text: string): boolean => !('refusal' in readingOf(text));

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
 * The text that requests the plan of every query of a text, in which macros are replaced by values.
 * `EXPLAIN ANALYZE` runs the query, so a text with any other statement is refused as a whole.
 */
export function explanationOf(given: string): Explanation {
  const reading = readingOf(given);
  if ('refusal' in reading) return reading;
  const { text, statements } = reading;
  const isQuery = ({ kind }: Statement): boolean => kind === 'select' || kind === 'explain';
  if (statements.length === 0 || !statements.every(isQuery)) return { refusal: t.explainsQueries };
  const explained = statements.map((statement) => {
    const own = text.slice(statement.span.start, statement.span.end);
    return statement.kind === 'explain' ? own : `EXPLAIN ANALYZE ${own}`;
  });
  return { text: explained.join('; ') };
}
