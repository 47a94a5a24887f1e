// The rows of statements, compared with a hand-written list: rights, audit and warnings follow from
// them.
import { parseQuery } from '@tidemark/influxql';
import type { Statement } from '@tidemark/influxql';
import { expect, test } from 'vitest';

import { ROWS, rowOf } from './registry.ts';

/** Reads what the catalog knows, reads data, changes. */
type Effect = 'reads' | 'reads data' | 'changes';
type Example = readonly [text: string, needs: string, effect: Effect];

/** `d` is the database of the request. A kind that is missing here does not compile. */
const EXAMPLES: Readonly<Record<Statement['kind'], Example>> = {
  select: ['SELECT v FROM m', 'read d', 'reads data'],
  explain: ['EXPLAIN SELECT v FROM o..m', 'read o', 'reads data'],
  'show-measurements': ['SHOW MEASUREMENTS', 'read d', 'reads data'],
  'show-field-keys': ['SHOW FIELD KEYS ON o', 'read o', 'reads data'],
  'show-series': ['SHOW SERIES FROM m', 'read d, read d', 'reads data'],
  'show-tag-keys': ['SHOW TAG KEYS', 'read d', 'reads data'],
  'show-tag-values': ['SHOW TAG VALUES ON o FROM m WITH KEY = t', 'read o, read o', 'reads data'],
  'show-cardinality': ['SHOW SERIES CARDINALITY ON o', 'read o', 'reads data'],
  'show-databases': ['SHOW DATABASES', '', 'reads'],
  'show-continuous-queries': ['SHOW CONTINUOUS QUERIES', 'read d', 'reads'],
  'show-diagnostics': ['SHOW DIAGNOSTICS', 'admin', 'reads'],
  'show-stats': ['SHOW STATS', 'admin', 'reads'],
  'show-grants': ['SHOW GRANTS FOR u', 'admin', 'reads'],
  'show-queries': ['SHOW QUERIES', 'read d', 'reads'],
  'show-retention-policies': ['SHOW RETENTION POLICIES ON o', 'read o', 'reads'],
  'show-shards': ['SHOW SHARDS', 'admin', 'reads'],
  'show-shard-groups': ['SHOW SHARD GROUPS', 'admin', 'reads'],
  'show-subscriptions': ['SHOW SUBSCRIPTIONS', 'admin', 'reads'],
  'show-users': ['SHOW USERS', 'admin', 'reads'],
  'create-database': ['CREATE DATABASE o', 'admin', 'changes'],
  'drop-database': ['DROP DATABASE o', 'admin', 'changes'],
  'create-retention-policy': [
    'CREATE RETENTION POLICY p ON o DURATION 1d REPLICATION 1',
    'admin',
    'changes',
  ],
  'alter-retention-policy': ['ALTER RETENTION POLICY p ON o DEFAULT', 'admin', 'changes'],
  'drop-retention-policy': ['DROP RETENTION POLICY p ON o', 'write o', 'changes'],
  'create-continuous-query': [
    'CREATE CONTINUOUS QUERY c ON o BEGIN SELECT mean(v) INTO n FROM m GROUP BY time(1m) END',
    'read o, read d, write d',
    'changes',
  ],
  'drop-continuous-query': ['DROP CONTINUOUS QUERY c ON o', 'write o', 'changes'],
  'create-subscription': [
    `CREATE SUBSCRIPTION s ON o.p DESTINATIONS ALL 'udp://h:1'`,
    'admin',
    'changes',
  ],
  'drop-subscription': ['DROP SUBSCRIPTION s ON o.p', 'admin', 'changes'],
  'drop-measurement': ['DROP MEASUREMENT m', 'admin', 'changes'],
  'drop-series': ['DROP SERIES FROM m', 'write d', 'changes'],
  delete: ['DELETE FROM m', 'write d', 'changes'],
  'drop-shard': ['DROP SHARD 1', 'admin', 'changes'],
  'kill-query': ['KILL QUERY 1', 'admin', 'changes'],
  'create-user': [`CREATE USER u WITH PASSWORD 'x'`, 'admin', 'changes'],
  'drop-user': ['DROP USER u', 'admin', 'changes'],
  'set-password': [`SET PASSWORD FOR u = 'x'`, 'admin', 'changes'],
  grant: ['GRANT READ ON o TO u', 'admin', 'changes'],
  'grant-admin': ['GRANT ALL PRIVILEGES TO u', 'admin', 'changes'],
  revoke: ['REVOKE READ ON o FROM u', 'admin', 'changes'],
  'revoke-admin': ['REVOKE ALL PRIVILEGES FROM u', 'admin', 'changes'],
};

test('every row has an example', () => {
  expect(Object.keys(ROWS).toSorted()).toEqual(Object.keys(EXAMPLES).toSorted());
});

test.each(Object.entries(EXAMPLES))('%s', (kind, [text, needs, effect]) => {
  const statement = parse(text);

  expect(statement.kind).toBe(kind);
  expect(needsOf(statement)).toBe(needs);
  expect(factsOf(statement)).toEqual({
    isReadOnly: effect === 'reads' || effect === 'reads data',
    readsData: effect === 'reads data',
  });
});

test.each([
  ['SELECT v INTO n FROM m', 'read d, write d'],
  ['SELECT v INTO t..n FROM o..m', 'read o, write t'],
  ['SELECT v INTO n FROM (SELECT v FROM o..m)', 'read o, write d'],
])('%s reads data and changes', (text, needs) => {
  const statement = parse(text);

  expect(needsOf(statement)).toBe(needs);
  expect(factsOf(statement)).toEqual({
    isReadOnly: false,
    readsData: true,
  });
});

test('a continuous query that writes to another database needs that right', () => {
  const select = 'SELECT mean(v) INTO t..n FROM o..m GROUP BY time(1m)';
  const statement = parse(`CREATE CONTINUOUS QUERY c ON o BEGIN ${select} END`);

  expect(needsOf(statement)).toBe('read o, read o, write t');
});

function parse(text: string): Statement {
  const { query, error } = parseQuery(text);
  const [statement] = query.statements;
  if (statement === undefined) throw new Error(`no statement: ${text}: ${error}`);
  return statement;
}

function needsOf(statement: Statement): string {
  return rowOf(statement)
    .requires(statement, 'd')
    .map((need) => (need.kind === 'admin' ? need.kind : `${need.kind} ${need.database}`))
    .join(', ');
}

function factsOf(statement: Statement): Readonly<Record<string, boolean>> {
  const row = rowOf(statement);
  return {
    isReadOnly: row.isReadOnly(statement),
    readsData: row.readsData,
  };
}
