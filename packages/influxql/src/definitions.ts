// CREATE, ALTER, DROP, DELETE and KILL: databases, retention policies, continuous queries,
// subscriptions, data.
import type { DefinitionStatement, Expression, MeasurementSource, Unplaced } from './ast.ts';
import { fromMeasurements, id, nameOnDatabase, where } from './clauses.ts';
import { continuousQuery } from './continuous-query.ts';
import type { Cursor } from './cursor.ts';
import { alterPolicyOptions, createPolicyOptions, databasePolicyOptions } from './policies.ts';
import { createUser } from './users.ts';

const CREATE_WORDS = ['CONTINUOUS', 'DATABASE', 'USER', 'RETENTION', 'SUBSCRIPTION'];
const DROP_WORDS = [
  'CONTINUOUS',
  'DATABASE',
  'MEASUREMENT',
  'RETENTION',
  'SERIES',
  'SHARD',
  'SUBSCRIPTION',
  'USER',
];

/** Parses `CREATE …`. */
export function createStatement(cursor: Cursor, start: number): Unplaced<DefinitionStatement> {
  cursor.expect('CREATE');
  const word = chooseWord(cursor, CREATE_WORDS);
  switch (word) {
    case 'CONTINUOUS':
      cursor.expect('QUERY');
      return continuousQuery(cursor, start);
    case 'DATABASE':
      return createDatabase(cursor);
    case 'USER':
      return createUser(cursor);
    case 'RETENTION': {
      cursor.expect('POLICY');
      const named = nameOnDatabase(cursor);
      const options = createPolicyOptions(cursor);
      return { kind: 'create-retention-policy', ...named, options };
    }
    default:
      return createSubscription(cursor);
  }
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
export function dropStatement(cursor: Cursor): Unplaced<DefinitionStatement> {
  cursor.expect('DROP');
  const word = chooseWord(cursor, DROP_WORDS);
  switch (word) {
    case 'CONTINUOUS': {
      cursor.expect('QUERY');
      const named = nameOnDatabase(cursor);
      return { kind: 'drop-continuous-query', ...named };
    }
    case 'RETENTION': {
      cursor.expect('POLICY');
      const named = nameOnDatabase(cursor);
      return { kind: 'drop-retention-policy', ...named };
    }
    case 'SERIES':
      return { kind: 'drop-series', ...deletion(cursor) };
    case 'SHARD':
      return { kind: 'drop-shard', id: id(cursor) };
    case 'SUBSCRIPTION': {
      const name = cursor.identifier();
      const place = policyOfSubscription(cursor);
      return { kind: 'drop-subscription', name, ...place };
    }
    default: {
      const name = cursor.identifier();
      const kind =
        word === 'DATABASE'
          ? 'drop-database'
          : word === 'MEASUREMENT'
            ? 'drop-measurement'
            : 'drop-user';
      return { kind, name };
    }
  }
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

function chooseWord(cursor: Cursor, words: readonly string[]): string {
  if (!words.includes(cursor.peek().fixed)) cursor.failExpected(words);
  return cursor.next().fixed;
}

function createDatabase(cursor: Cursor): Unplaced<DefinitionStatement> {
  const name = cursor.identifier();
  const hasOptions = cursor.skip('WITH');
  const options = hasOptions ? databasePolicyOptions(cursor) : {};
  const policyName = hasOptions && cursor.skip('NAME') ? cursor.identifier() : undefined;
  return { kind: 'create-database', name, hasOptions, options, policyName };
}

function createSubscription(cursor: Cursor): Unplaced<DefinitionStatement> {
  const name = cursor.identifier();
  const place = policyOfSubscription(cursor);
  cursor.expect('DESTINATIONS');
  const mode = cursor.at('ANY') ? 'ANY' : 'ALL';
  if (!cursor.skip('ALL') && !cursor.skip('ANY')) cursor.failExpected(['ALL', 'ANY']);
  const destinations = [cursor.string()];
  while (cursor.skip(',')) destinations.push(cursor.string());
  return { kind: 'create-subscription', name, ...place, mode, destinations };
}

/** `ON database.policy`. */
function policyOfSubscription(cursor: Cursor): {
  readonly database: string;
  readonly retentionPolicy: string;
} {
  cursor.expect('ON');
  const database = cursor.identifier();
  cursor.expect('.');
  return { database, retentionPolicy: cursor.identifier() };
}

/**
 * `FROM … [WHERE …]` or `WHERE …`: data is deleted from all retention policies of the database of
 * the request.
 */
function deletion(cursor: Cursor): {
  readonly sources: readonly MeasurementSource[];
  readonly condition: Expression | undefined;
} {
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
