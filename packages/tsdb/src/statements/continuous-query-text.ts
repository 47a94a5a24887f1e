// Statements with every name qualified: continuous queries are stored in this form, so that later
// defaults do not change them.
import { NotFound } from '@tidemark/core';
import { parseQuery, printStatement, rewriteSelect } from '@tidemark/influxql';
import type { DefinitionStatement, SelectStatement, Statement } from '@tidemark/influxql';
import { checkRegex } from '@tidemark/query';

import { requireDatabase } from '../catalog/databases.ts';
import { findPolicy } from '../catalog/model.ts';
import type { CatalogState } from '../catalog/model.ts';
import { policyNotFound } from '../compat/messages.ts';

export type CreateContinuousQuery = Extract<
  DefinitionStatement,
  { readonly kind: 'create-continuous-query' }
>;

/** The statement that created a continuous query; `error` says why there is none. */
export function parseContinuousQuery(text: string): {
  readonly statement: CreateContinuousQuery | undefined;
  readonly error: unknown;
} {
  const { query, error } = parseQuery(text, { checkRegex });
  const statement = query.statements[0];
  const isRead = error === undefined && statement?.kind === 'create-continuous-query';
  if (!isRead) return { statement: undefined, error };
  // All its executions have one shape: only their times differ.
  const select = { ...statement.statement, shape: {} };
  return { statement: { ...statement, statement: select }, error };
}

/**
 * Names without a database or policy get those of the request (`db`, `rp`), if it has any. Throws
 * when a named database or policy does not exist.
 */
export function qualifyContinuousQuery(
  statement: CreateContinuousQuery,
  state: CatalogState,
  request: { readonly database: string; readonly retentionPolicy: string },
): string {
  requireDatabase(state, statement.database);
  const database = request.database === '' ? statement.database : request.database;
  const { retentionPolicy } = request;
  const select = qualifySelect(statement.statement, { state, database, retentionPolicy });
  return printStatement({ ...statement, statement: select });
}

/** The same for any statement, for display: names that do not exist stay as they are. */
export function qualifyForDisplay(
  statement: Statement,
  state: CatalogState,
  database: string,
): Statement {
  if (statement.kind !== 'select') return statement;
  try {
    return qualifySelect(statement, { state, database, retentionPolicy: '' });
  } catch (error) {
    if (error instanceof NotFound) return statement;
    throw error;
  }
}

type Scope = {
  readonly state: CatalogState;
  readonly database: string;
  /** Empty: the default one of each database. */
  readonly retentionPolicy: string;
};

function qualifySelect(select: SelectStatement, scope: Scope): SelectStatement {
  return rewriteSelect(select, {
    measurement: (source) => ({ ...source, ...place(source, scope) }),
    select: (one) => ({ ...one, into: one.into && { ...one.into, ...place(one.into, scope) } }),
  });
}

function place(
  name: { readonly database?: string | undefined; readonly retentionPolicy?: string | undefined },
  scope: Scope,
): { readonly database: string; readonly retentionPolicy: string } {
  const database = name.database ?? scope.database;
  const record = requireDatabase(scope.state, database);
  const named = name.retentionPolicy ?? '';
  const written = named === '' ? scope.retentionPolicy : named;
  const retentionPolicy = written === '' ? record.defaultPolicy : written;
  if (findPolicy(record, retentionPolicy) === undefined) {
    throw new NotFound(policyNotFound(`${database}.${retentionPolicy}`));
  }
  return { database, retentionPolicy };
}
