// Options of retention policies, as three statements write them.
import { own } from '@tidemark/core';
import type { PolicyOptions } from './ast.ts';
import { replication } from './clauses.ts';
import type { Cursor } from './cursor.ts';

/** Every option by its first word, which has been read; the rest of it follows. */
const OPTIONS = {
  DURATION: (cursor) => ({ durationNanos: cursor.durationOrInf() }),
  REPLICATION: (cursor) => ({ replication: replication(cursor) }),
  SHARD: (cursor) => ({ shardDurationNanos: shardDuration(cursor) }),
  DEFAULT: () => ({ isDefault: true }),
  FUTURE: (cursor) => ({ futureLimitNanos: limit(cursor) }),
  PAST: (cursor) => ({ pastLimitNanos: limit(cursor) }),
} satisfies Record<string, (cursor: Cursor) => PolicyOptions>;

/**
 * `DURATION d REPLICATION n [SHARD DURATION d] [FUTURE LIMIT d] [PAST LIMIT d] [DEFAULT]` of CREATE
 * RETENTION POLICY.
 */
export function createPolicyOptions(cursor: Cursor): PolicyOptions {
  cursor.expect('DURATION');
  const durationNanos = cursor.durationOrInf();
  cursor.expect('REPLICATION');
  return {
    durationNanos,
    replication: replication(cursor),
    ...optionsOf(cursor, ['SHARD', 'FUTURE', 'PAST']),
    isDefault: cursor.skip('DEFAULT'),
    ...optionsOf(cursor, ['FUTURE', 'PAST']),
  };
}

/** The options of `CREATE DATABASE … WITH`; NAME, which ends them, is read by the caller. */
export function databasePolicyOptions(cursor: Cursor): PolicyOptions {
  const isKnown = ['DURATION', 'NAME', 'REPLICATION', 'SHARD'].includes(cursor.peek().fixed);
  if (!isKnown && !cursor.atSoftWord('FUTURE') && !cursor.atSoftWord('PAST')) {
    cursor.failExpected(['DURATION', 'NAME', 'REPLICATION', 'SHARD']);
  }
  const options = optionsOf(cursor, ['DURATION', 'REPLICATION']);
  if (!cursor.skip('SHARD')) return { ...options, ...optionsOf(cursor, ['FUTURE', 'PAST']) };
  cursor.expect('DURATION');
  const shardDurationNanos = cursor.durationOrInf();
  return { ...options, shardDurationNanos, ...optionsOf(cursor, ['FUTURE', 'PAST']) };
}

/** Those of the options that are there, in this order. FUTURE and PAST are not reserved. */
function optionsOf(cursor: Cursor, words: readonly (keyof typeof OPTIONS)[]): PolicyOptions {
  let options: PolicyOptions = {};
  for (const word of words) {
    const isSoft = word === 'FUTURE' || word === 'PAST';
    if (!(isSoft ? cursor.atSoftWord(word) : cursor.at(word))) continue;
    cursor.next();
    options = { ...options, ...OPTIONS[word](cursor) };
  }
  return options;
}

/** Options of ALTER RETENTION POLICY: any order, at least one, each at most once. */
export function alterPolicyOptions(cursor: Cursor): PolicyOptions {
  let options: PolicyOptions = {};
  const found = new Set<string>();
  for (;;) {
    const token = cursor.peek();
    const word = token.kind === 'identifier' ? token.text.toUpperCase() : token.fixed;
    if (found.has(word)) cursor.failAt(`found duplicate ${word} option`, token, 'IQL_SYNTAX');
    const option = own<(cursor: Cursor) => PolicyOptions>(OPTIONS, word);
    if (option === undefined) break;
    cursor.next();
    options = { ...options, ...option(cursor) };
    found.add(word);
  }
  if (found.size === 0) cursor.failExpected(['DURATION', 'REPLICATION', 'SHARD', 'DEFAULT']);
  return options;
}

function shardDuration(cursor: Cursor): bigint {
  cursor.expect('DURATION');
  if (cursor.at('INF')) {
    cursor.failAt('invalid duration INF for shard duration', cursor.peek(), 'IQL_DURATION');
  }
  return cursor.duration();
}

function limit(cursor: Cursor): bigint {
  cursor.expect('LIMIT');
  return cursor.durationOrInf();
}
