// Whether a text only reads: an address that somebody was sent may show an answer, but change
// nothing.
import { parseQuery } from '@tidemark/influxql';

import { expandMacros } from './macros.ts';

const ANY_SPAN = { fromMs: 0, toMs: 1, interval: '1m' };

export function isReadOnly(text: string): boolean {
  const { query, error } = parseQuery(expandMacros(text, ANY_SPAN).text);
  if (error !== undefined) return false;
  return query.statements.every(
    (statement) =>
      statement.kind.startsWith('show-') ||
      (statement.kind === 'select' && statement.into === undefined) ||
      (statement.kind === 'explain' && statement.statement.into === undefined),
  );
}
