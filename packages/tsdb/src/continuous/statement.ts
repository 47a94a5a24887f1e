// A continuous query's statement: parsed from the catalog, its interval, and the SELECT for one
// range.
import { assert } from '@tidemark/core';
import type { Span, Timestamp } from '@tidemark/core';
import type { Expression, SelectStatement } from '@tidemark/influxql';
import { openZone } from '@tidemark/query';
import type { Zone } from '@tidemark/query';

/** The answer of SELECT … INTO: how many points it wrote. */
export function writtenOf(batch: {
  readonly values: readonly { readonly type: string; readonly values?: unknown }[];
}): bigint {
  const column = batch.values[1];
  const values = column?.values;
  return values instanceof BigInt64Array ? (values[0] ?? 0n) : 0n;
}

const NOWHERE: Span = { start: 0, end: 0 };

/** The windows of GROUP BY time. */
export type ContinuousInterval = {
  readonly intervalNanos: bigint;
  readonly offsetNanos: bigint;
  /** The zone of tz(); windows begin by its wall clock. */
  readonly zone?: Zone | undefined;
};

/** The interval of GROUP BY time; `undefined` without one. */
export function readInterval(
  statement: SelectStatement,
  now: Timestamp,
): ContinuousInterval | undefined {
  for (const dimension of statement.dimensions) {
    if (dimension.kind !== 'call' || dimension.name.toLowerCase() !== 'time') continue;
    const [every, offset] = dimension.arguments;
    if (every?.kind !== 'duration' || every.nanos <= 0n) return undefined;
    const offsetNanos =
      offset?.kind === 'duration' ? offset.nanos : offset?.kind === 'call' ? now : 0n;
    return { intervalNanos: every.nanos, offsetNanos, zone: openZone(statement.timeZone) };
  }
  return undefined;
}

/** The statement for [start, end), combined with its own condition. */
export function withRange(
  statement: SelectStatement,
  due: { readonly start: Timestamp; readonly end: Timestamp },
): SelectStatement {
  assert(due.end > due.start, 'a run covers time');
  const bound = (operator: '>=' | '<', time: Timestamp): Expression => ({
    kind: 'binary',
    operator,
    left: { kind: 'reference', name: 'time', span: NOWHERE },
    right: { kind: 'integer', value: time, span: NOWHERE },
    span: NOWHERE,
  });
  const and = (left: Expression, right: Expression): Expression => ({
    kind: 'binary',
    operator: 'AND',
    left,
    right,
    span: NOWHERE,
  });
  const range = and(bound('>=', due.start), bound('<', due.end));
  const { condition } = statement;
  if (condition === undefined) return { ...statement, condition: range };
  const own: Expression = { kind: 'paren', expression: condition, span: NOWHERE };
  return { ...statement, condition: and(own, range) };
}
