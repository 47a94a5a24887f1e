// Options of retention policies, as three statements write them.
import type { PolicyOptions } from './ast.ts';
import { replication } from './clauses.ts';
import type { Cursor } from './cursor.ts';

/** `{ -readonly }` form of PolicyOptions, filled option by option. */
type Draft = { -readonly [K in keyof PolicyOptions]: PolicyOptions[K] };

/**
 * `DURATION d REPLICATION n [SHARD DURATION d] [FUTURE LIMIT d] [PAST LIMIT d] [DEFAULT]` of CREATE
 * RETENTION POLICY.
 */
export function createPolicyOptions(cursor: Cursor): PolicyOptions {
  const options: Draft = {};
  cursor.expect('DURATION');
  options.durationNanos = cursor.durationOrInf();
  cursor.expect('REPLICATION');
  options.replication = replication(cursor);
  if (cursor.skip('SHARD')) options.shardDurationNanos = shardDuration(cursor);
  limitsInto(options, cursor);
  options.isDefault = cursor.skip('DEFAULT');
  limitsInto(options, cursor);
  return options;
}

/** The options of `CREATE DATABASE … WITH`; NAME, which ends them, is read by the caller. */
export function databasePolicyOptions(cursor: Cursor): PolicyOptions {
  const isKnown = ['DURATION', 'NAME', 'REPLICATION', 'SHARD'].includes(cursor.peek().fixed);
  if (!isKnown && !cursor.atSoftWord('FUTURE') && !cursor.atSoftWord('PAST')) {
    cursor.failExpected(['DURATION', 'NAME', 'REPLICATION', 'SHARD']);
  }
  const options: Draft = {};
  if (cursor.skip('DURATION')) options.durationNanos = cursor.durationOrInf();
  if (cursor.skip('REPLICATION')) options.replication = replication(cursor);
  if (cursor.skip('SHARD')) {
    cursor.expect('DURATION');
    options.shardDurationNanos = cursor.durationOrInf();
  }
  limitsInto(options, cursor);
  return options;
}

/** Options of ALTER RETENTION POLICY: any order, at least one, each at most once. */
export function alterPolicyOptions(cursor: Cursor): PolicyOptions {
  const options: Draft = {};
  const found = new Set<string>();
  for (;;) {
    const token = cursor.peek();
    const word = token.kind === 'identifier' ? token.text.toUpperCase() : token.fixed;
    if (found.has(word)) cursor.failAt(`found duplicate ${word} option`, token, 'IQL_SYNTAX');
    if (!alterOptionInto(options, cursor, word)) break;
    found.add(word);
  }
  if (found.size === 0) cursor.failExpected(['DURATION', 'REPLICATION', 'SHARD', 'DEFAULT']);
  return options;
}

/** Reads the option that begins with `word`; returns false if none does. */
function alterOptionInto(options: Draft, cursor: Cursor, word: string): boolean {
  switch (word) {
    case 'DURATION':
      cursor.next();
      options.durationNanos = cursor.durationOrInf();
      return true;
    case 'REPLICATION':
      cursor.next();
      options.replication = replication(cursor);
      return true;
    case 'SHARD':
      cursor.next();
      options.shardDurationNanos = shardDuration(cursor);
      return true;
    case 'DEFAULT':
      cursor.next();
      options.isDefault = true;
      return true;
    case 'FUTURE':
    case 'PAST':
      cursor.next();
      limitInto(options, cursor, word);
      return true;
    default:
      return false;
  }
}

function shardDuration(cursor: Cursor): bigint {
  cursor.expect('DURATION');
  if (cursor.at('INF')) {
    cursor.failAt('invalid duration INF for shard duration', cursor.peek(), 'IQL_DURATION');
  }
  return cursor.duration();
}

/** `FUTURE LIMIT d` and `PAST LIMIT d`, in this order; neither word is reserved. */
function limitsInto(options: Draft, cursor: Cursor): void {
  for (const word of ['FUTURE', 'PAST'] as const) {
    if (!cursor.atSoftWord(word)) continue;
    cursor.next();
    limitInto(options, cursor, word);
  }
}

function limitInto(options: Draft, cursor: Cursor, word: 'FUTURE' | 'PAST'): void {
  cursor.expect('LIMIT');
  const nanos = cursor.durationOrInf();
  if (word === 'FUTURE') options.futureLimitNanos = nanos;
  else options.pastLimitNanos = nanos;
}
