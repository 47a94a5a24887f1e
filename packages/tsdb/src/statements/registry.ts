// Every kind of statement, one row each: its handler, the rights it needs, and its effect on data.
import type { Statement } from '@tidemark/influxql';
import { executeExplain, executeSelect, executeShow } from '@tidemark/query';
import type { Operator, QueryContext, ResultBatch } from '@tidemark/query';
import { readsShown, selects } from '../auth/requirements.ts';
import type { Requires } from '../auth/requirements.ts';
import { DEFINITIONS } from './definitions.ts';
import { onSnapshot } from './on-snapshot.ts';
import { readOnly } from './rows.ts';
import type { Row, Rows } from './rows.ts';
import { SHOWS } from './shows.ts';
import { USERS } from './users.ts';

const SHOW_SCHEMA = scans(executeShow, readsShown);

/** A missing kind does not compile. */
export const ROWS: Rows = {
  select: {
    ...scans(executeSelect, selects),
    isReadOnly: ({ into }) => into === undefined,
  },
  explain: scans(executeExplain, ({ statement }, database) => selects(statement, database)),
  'show-measurements': SHOW_SCHEMA,
  'show-field-keys': SHOW_SCHEMA,
  'show-series': SHOW_SCHEMA,
  'show-tag-keys': SHOW_SCHEMA,
  'show-tag-values': SHOW_SCHEMA,
  'show-cardinality': SHOW_SCHEMA,
  ...SHOWS,
  ...DEFINITIONS,
  ...USERS,
};

/** The properties of a statement's kind. */
export function rowOf(statement: Statement): Row<Statement> {
  // The type of the rows ties every kind to its own; TypeScript cannot follow that through an
  // index.
  return ROWS[statement.kind] as Row<Statement>;
}

/** A statement about data. */
function scans<S>(
  execute: (statement: S, context: QueryContext) => Operator<ResultBatch>,
  requires: Requires<S>,
): Row<S> {
  const handler: Row<S>['handler'] = (statement, context) =>
    onSnapshot(context, (query) => execute(statement, query));
  return { ...readOnly(handler, requires), readsData: true };
}
