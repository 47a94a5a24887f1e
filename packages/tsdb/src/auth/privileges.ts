// Which rights a statement needs: one row per kind of statement. Refusals name statement and right.
import { Forbidden, unreachable } from '@tidemark/core';
import { printStatement } from '@tidemark/influxql';
import type {
  MeasurementSource,
  Query,
  SelectStatement,
  Source,
  Statement,
} from '@tidemark/influxql';

import { CREATE_ADMIN_FIRST } from '../compat/messages.ts';
import { canRead, canWrite } from './identity.ts';
import type { Identity } from './identity.ts';

type Requirement =
  | { readonly kind: 'admin' }
  | { readonly kind: 'read' | 'write'; readonly database: string };

/** What a statement needs; `database` is that of the request. Empty: any known user may. */
function requirementsOf(statement: Statement, database: string): readonly Requirement[] {
  switch (statement.kind) {
    case 'select':
      return selectRequirements(statement, database);
    case 'explain':
      return selectRequirements(statement.statement, database);
    case 'show-databases':
      return [];
    case 'show-measurements':
    case 'show-series':
    case 'show-tag-keys':
    case 'show-tag-values':
    case 'show-field-keys':
    case 'show-cardinality':
      return [
        { kind: 'read', database: statement.database ?? database },
        ...sourceRequirements(statement.sources, statement.database ?? database),
      ];
    case 'show-retention-policies':
      return [{ kind: 'read', database: statement.database ?? database }];
    case 'show-continuous-queries':
    case 'show-queries':
      return [{ kind: 'read', database }];
    case 'create-continuous-query':
      return continuousQueryRequirements(statement.statement, statement.database);
    case 'delete':
    case 'drop-series':
      return [{ kind: 'write', database }];
    case 'drop-continuous-query':
    case 'drop-retention-policy':
      return [{ kind: 'write', database: statement.database }];
    case 'create-database':
    case 'drop-database':
    case 'create-retention-policy':
    case 'alter-retention-policy':
    case 'drop-measurement':
    case 'drop-shard':
    case 'create-user':
    case 'drop-user':
    case 'set-password':
    case 'grant':
    case 'grant-admin':
    case 'revoke':
    case 'revoke-admin':
    case 'show-users':
    case 'show-grants':
    case 'show-stats':
    case 'show-diagnostics':
    case 'show-shards':
    case 'show-shard-groups':
    case 'show-subscriptions':
    case 'create-subscription':
    case 'drop-subscription':
    case 'kill-query':
      return [{ kind: 'admin' }];
    default:
      return unreachable(statement);
  }
}

function selectRequirements(statement: SelectStatement, database: string): readonly Requirement[] {
  const requirements = [...sourceRequirements(statement.sources, database)];
  if (statement.into !== undefined) {
    requirements.push({ kind: 'write', database: statement.into.database ?? database });
  }
  return requirements;
}

function sourceRequirements(
  sources: readonly (Source | MeasurementSource)[],
  database: string,
): readonly Requirement[] {
  return sources.flatMap((source): readonly Requirement[] =>
    source.kind === 'subquery'
      ? selectRequirements(source.statement, database)
      : [{ kind: 'read', database: source.database ?? database }],
  );
}

/** The database that a continuous query belongs to needs no right to be written, another target does. */
function continuousQueryRequirements(
  statement: SelectStatement,
  database: string,
): readonly Requirement[] {
  const target = statement.into?.database;
  const reads = sourceRequirements(statement.sources, database);
  const own: Requirement = { kind: 'read', database };
  return target === undefined
    ? [own, ...reads]
    : [own, ...reads, { kind: 'write', database: target }];
}

/** Throws `Forbidden` unless all statements are allowed; nothing of a query runs before that is certain. */
export function authorizeQuery(query: Query, identity: Identity, database: string): void {
  if (identity.kind === 'open') return;
  if (identity.kind === 'bootstrap') {
    const first = query.statements[0];
    if (first?.kind === 'create-user' && first.isAdmin) return;
    throw new Forbidden(CREATE_ADMIN_FIRST);
  }
  const { user } = identity;
  for (const statement of query.statements) {
    for (const need of requirementsOf(statement, database)) {
      const isAllowed =
        need.kind === 'admin'
          ? user.isAdmin
          : need.kind === 'read'
            ? canRead(identity, need.database)
            : canWrite(identity, need.database);
      if (isAllowed) continue;
      const text = printStatement(statement, { redactPasswords: true });
      const right =
        need.kind === 'admin'
          ? 'admin privilege'
          : `${need.kind.toUpperCase()} on ${need.database}`;
      throw new Forbidden(
        `error authorizing query: ${user.name} not authorized to execute statement '${text}', requires ${right}`,
      );
    }
  }
}
