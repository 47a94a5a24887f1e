// CREATE, ALTER, DROP, DELETE and KILL: databases, retention policies, continuous queries,
// subscriptions, data.
import type { DefinitionStatement, ShowClauses, Unplaced } from './ast.ts';
import { fromMeasurements, id, nameOnDatabase, where } from './clauses.ts';
import { continuousQuery } from './continuous-query.ts';
import type { Cursor } from './cursor.ts';
import { alterPolicyOptions, createPolicyOptions, databasePolicyOptions } from './policies.ts';
import { createUser } from './users.ts';

type Parser = (cursor: Cursor, start: number) => Unplaced<DefinitionStatement>;

/** What follows CREATE, by its first word. */
const CREATE: Readonly<Record<string, Parser>> = {
  CONTINUOUS: continuousQuery,
  DATABASE: createDatabase,
  USER: createUser,
  RETENTION: (cursor) => {
    cursor.expect('POLICY');
    const named = nameOnDatabase(cursor);
    const options = createPolicyOptions(cursor);
    return { kind: 'create-retention-policy', ...named, options };
  },
  SUBSCRIPTION: createSubscription,
};

/** What follows DROP, by its first word. */
const DROP: Readonly<Record<string, Parser>> = {
  CONTINUOUS: (cursor) => {
    cursor.expect('QUERY');
    return { kind: 'drop-continuous-query', ...nameOnDatabase(cursor) };
  },
  DATABASE: (cursor) => ({ kind: 'drop-database', name: cursor.identifier() }),
  MEASUREMENT: (cursor) => ({ kind: 'drop-measurement', name: cursor.identifier() }),
  RETENTION: (cursor) => {
    cursor.expect('POLICY');
    return { kind: 'drop-retention-policy', ...nameOnDatabase(cursor) };
  },
  SERIES: (cursor) => ({ kind: 'drop-series', ...deletion(cursor) }),
  SHARD: (cursor) => ({ kind: 'drop-shard', id: id(cursor) }),
  SUBSCRIPTION: (cursor) => ({ kind: 'drop-subscription', ...nameOnPolicy(cursor) }),
  USER: (cursor) => ({ kind: 'drop-user', name: cursor.identifier() }),
};

/** Parses `CREATE …`. */
export function createStatement(cursor: Cursor, start: number): Unplaced<DefinitionStatement> {
  cursor.expect('CREATE');
  return cursor.choose(CREATE)(cursor, start);
}

/** Parses `ALTER RETENTION POLICY …`. */
export function alterStatement(cursor: Cursor): Unplaced<DefinitionStatement> {
  cursor.expect('ALTER', 'RETENTION', 'POLICY');
  // The default policy of some databases is called "default"; the bare word is accepted here.
  const name = cursor.skip('DEFAULT') ? 'default' : cursor.identifier();
  cursor.expect('ON');
  const database = cursor.identifier();
  const options = alterPolicyOptions(cursor);
  return { kind: 'alter-retention-policy', name, database, options };
}

/** Parses `DROP …`. */
export function dropStatement(cursor: Cursor, start: number): Unplaced<DefinitionStatement> {
  cursor.expect('DROP');
  return cursor.choose(DROP)(cursor, start);
}

/** Parses `DELETE …`. */
export function deleteStatement(cursor: Cursor): Unplaced<DefinitionStatement> {
  cursor.expect('DELETE');
  return { kind: 'delete', ...deletion(cursor) };
}

/** Parses `KILL QUERY …`. */
export function killStatement(cursor: Cursor): Unplaced<DefinitionStatement> {
  cursor.expect('KILL', 'QUERY');
  const queryId = id(cursor);
  let host: string | undefined;
  if (cursor.skip('ON')) {
    host = cursor.peek().kind === 'string' ? cursor.string() : cursor.identifier();
  }
  return { kind: 'kill-query', id: queryId, host };
}

function createDatabase(cursor: Cursor): Unplaced<DefinitionStatement> {
  const name = cursor.identifier();
  const hasOptions = cursor.skip('WITH');
  const options = hasOptions ? databasePolicyOptions(cursor) : {};
  const policyName = hasOptions && cursor.skip('NAME') ? cursor.identifier() : undefined;
  return { kind: 'create-database', name, hasOptions, options, policyName };
}

function createSubscription(cursor: Cursor): Unplaced<DefinitionStatement> {
  const named = nameOnPolicy(cursor);
  cursor.expect('DESTINATIONS');
  const mode = cursor.at('ANY') ? 'ANY' : 'ALL';
  if (!cursor.skip('ALL') && !cursor.skip('ANY')) cursor.failExpected(['ALL', 'ANY']);
  const destinations = cursor.list(() => cursor.string());
  return { kind: 'create-subscription', ...named, mode, destinations };
}

/** `name ON database.policy`. */
function nameOnPolicy(cursor: Cursor) {
  const named = nameOnDatabase(cursor);
  cursor.expect('.');
  return { ...named, retentionPolicy: cursor.identifier() };
}

/**
 * `FROM … [WHERE …]` or `WHERE …`: data is deleted from all retention policies of the database of
 * the request.
 */
function deletion(cursor: Cursor): Pick<ShowClauses, 'sources' | 'condition'> {
  if (!cursor.at('FROM') && !cursor.at('WHERE')) cursor.failExpected(['FROM', 'WHERE']);
  const sources = fromMeasurements(cursor);
  for (const { database, retentionPolicy, span } of sources.toReversed()) {
    if (retentionPolicy === undefined && database === undefined) continue;
    const part = retentionPolicy === undefined ? 'database' : 'retention policy';
    // Existing clients see this text with the place of the first character.
    const message = `${part} not supported at line 1, char 1`;
    cursor.fail(message, span, 'IQL_DELETE_SOURCE', 'name the measurement only');
  }
  return { sources, condition: where(cursor) };
}
