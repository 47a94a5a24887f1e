// Runs statements over the model in memory, for tests.
import { parseQuery } from '@tidemark/influxql';
import type { SelectStatement } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import { executeSelect } from '../executor.ts';
import { DEFAULT_QUERY_LIMITS } from '../limits.ts';
import { writeResults } from '../output/write-results.ts';
import type { MemorySource } from './memory-source.ts';

export const SECOND = 1_000_000_000n;
/** What `now()` is. */
export const NOW = 1_700_000_000n * SECOND;
/** The database of all tests here, whose only policy is `autogen`. */
export const DATABASE = 'db';

/** A context for statements over the source; the clock stands still unless told otherwise. */
export async function contextOf(
  source: MemorySource,
  overrides: Partial<QueryContext> = {},
): Promise<QueryContext> {
  return {
    snapshot: await source.snapshot(),
    capabilities: source.capabilities,
    catalog: {
      hasDatabase: (name) => name === DATABASE,
      hasRetentionPolicy: (_database, name) => name === 'autogen',
      defaultRetentionPolicy: () => 'autogen',
      retentionPolicies: () => ['autogen'],
    },
    database: DATABASE,
    now: NOW,
    limits: DEFAULT_QUERY_LIMITS,
    signal: new AbortController().signal,
    monotonicMs: () => 0,
    random: () => 0,
    ...overrides,
  };
}

/** The only statement of a text, which has to be a SELECT. */
export function select(text: string): SelectStatement {
  const { query, error } = parseQuery(text);
  const [statement] = query.statements;
  if (error !== undefined || statement?.kind !== 'select') throw new Error(error ?? 'not a SELECT');
  return statement;
}

/** The JSON that a SELECT answers, times in seconds. */
export async function answer(text: string, context: QueryContext): Promise<string> {
  const pieces: Uint8Array[] = [];
  const run = () => executeSelect(select(text), context);
  for await (const piece of writeResults([{ run }], { encoding: 'json', epoch: 's' })) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** Runs a SELECT to its end and throws its rows away; how many there were. */
export async function drain(text: string, context: QueryContext): Promise<number> {
  let rowCount = 0;
  for await (const batch of executeSelect(select(text), context)) rowCount += batch.rowCount;
  return rowCount;
}
