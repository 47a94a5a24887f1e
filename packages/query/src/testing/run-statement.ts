// Runs statements over the model in memory, for tests.
import { parseQuery } from '@tidemark/influxql';
import type { Statement } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import { Driver } from '../driver.ts';
import { executeSelect } from '../executor.ts';
import { DEFAULT_QUERY_LIMITS } from '../limits.ts';
import type { Operator } from '../operator.ts';
import { writeResults } from '../output/write-results.ts';
import type { ResultBatch } from '../result.ts';
import { executeShow } from '../show/run-show.ts';
import type { SchemaShowStatement } from '../show/run-show.ts';
import type { MemorySource } from './memory-source.ts';

export const SECOND = 1_000_000_000n;
/** The value of `now()`. */
export const NOW = 1_700_000_000n * SECOND;
/** The database of all tests here, whose only policy is `autogen`. */
export const DATABASE = 'db';

/** A context for statements over the source; the clock stands still by default. */
export function contextOf(
  source: MemorySource,
  overrides: Partial<QueryContext> = {},
): QueryContext {
  return {
    snapshot: source.snapshot(),
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

function parsed(text: string): Statement {
  const { query, error } = parseQuery(text);
  const [statement] = query.statements;
  if (statement === undefined || error !== undefined) throw new Error(error ?? 'no statement');
  return statement;
}

/** Batches of the answer to a SELECT, or to a SHOW about the schema. */
export function execute(text: string, context: QueryContext): AsyncIterable<ResultBatch> {
  return driverOf(context).batches(operatorOf(text, context));
}

function operatorOf(text: string, context: QueryContext): Operator<ResultBatch> {
  const statement = parsed(text);
  return statement.kind === 'select'
    ? executeSelect(statement, context)
    : executeShow(statement as SchemaShowStatement, context);
}

/** The driver of the operators of a context. */
export function driverOf({ signal, memory, monotonicMs }: QueryContext): Driver {
  const supervision = { signal, memory };
  return new Driver({ supervision: () => supervision, monotonicMs });
}

/** The JSON answer of a statement, times in seconds. */
export async function answer(text: string, context: QueryContext): Promise<string> {
  const pieces: Uint8Array[] = [];
  const run = () => operatorOf(text, context);
  const written = writeResults([{ run }], { encoding: 'json', epoch: 's' });
  for await (const piece of driverOf(context).batches(written)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Runs a statement to its end, dropping its rows; returns how many there were. */
export async function drain(text: string, context: QueryContext): Promise<number> {
  let rowCount = 0;
  for await (const batch of execute(text, context)) rowCount += batch.rowCount;
  return rowCount;
}
