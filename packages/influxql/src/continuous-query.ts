// CREATE CONTINUOUS QUERY: a SELECT … INTO that runs repeatedly, and its schedule.
import { formatDuration } from '@tidemark/core';
import type { DefinitionStatement, SelectStatement, Unplaced } from './ast.ts';
import { nameOnDatabase } from './clauses.ts';
import type { Cursor } from './cursor.ts';
import { selectStatement } from './select.ts';
import { some } from './walk.ts';

type Resample = { readonly every?: bigint | undefined; readonly for?: bigint | undefined };

/** Parses the rest of `CREATE CONTINUOUS …`. */
export function continuousQuery(cursor: Cursor, start: number): Unplaced<DefinitionStatement> {
  cursor.expect('QUERY');
  const named = nameOnDatabase(cursor);
  const resample = cursor.skip('RESAMPLE') ? resampleOptions(cursor) : {};
  cursor.expect('BEGIN');
  const statement = selectStatement(cursor, { mustHaveInto: true });
  const interval = intervalOf(statement);
  if (isAggregated(statement) && (interval.nanos === undefined || interval.nanos === 0n)) {
    const expected = ['GROUP BY time(...)', ...(interval.problem ?? [])];
    cursor.failExpected(expected, cursor.last());
  }
  cursor.expect('END');
  const longest = longer(interval.nanos ?? 0n, resample.every);
  if (resample.for !== undefined && resample.for !== 0n && longest > resample.for) {
    const required = `must be a minimum of ${formatDuration(longest)}, got ${formatDuration(resample.for)}`;
    const message = `FOR duration must be >= GROUP BY time duration: ${required}`;
    cursor.fail(message, cursor.spanFrom(start), 'IQL_RESAMPLE');
  }
  return {
    kind: 'create-continuous-query',
    ...named,
    resampleEveryNanos: resample.every,
    resampleForNanos: resample.for,
    statement,
  };
}

function resampleOptions(cursor: Cursor): Resample {
  const every = cursor.skip('EVERY') ? cursor.duration() : undefined;
  const length = cursor.skip('FOR') ? cursor.duration() : undefined;
  if (every === undefined && length === undefined) cursor.failExpected(['EVERY', 'FOR']);
  return { every, for: length };
}

function longer(a: bigint, b: bigint | undefined): bigint {
  return b !== undefined && b > a ? b : a;
}

/** Whether a field calls a function. `DISTINCT name` does not count, as existing clients expect. */
function isAggregated(statement: SelectStatement): boolean {
  return statement.fields.some(({ expression }) => some(expression, ({ kind }) => kind === 'call'));
}

/** The interval of GROUP BY time(…), or why it has none. */
function intervalOf(statement: SelectStatement): {
  readonly nanos?: bigint;
  readonly problem?: readonly string[];
} {
  for (const dimension of statement.dimensions) {
    if (dimension.kind !== 'call' || dimension.name !== 'time') continue;
    const count = dimension.arguments.length;
    if (count === 0 || count > 2) return { problem: ['time dimension expected 1 or 2 arguments'] };
    const [every] = dimension.arguments;
    if (every?.kind !== 'duration') {
      return { problem: ['time dimension must have duration argument'] };
    }
    return { nanos: every.nanos };
  }
  return {};
}
