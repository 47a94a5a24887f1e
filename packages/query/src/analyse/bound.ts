// The part of a statement beyond its shape: times, the values in its condition, and limits.
// Everything else about it is prepared (`prepared.ts`), and the same for all statements of a shape.
import { subqueriesIn } from '@tidemark/influxql';
import type { SelectStatement, ShowClauses } from '@tidemark/influxql';

import type { PreparedSelect } from './prepared.ts';
import { splitCondition } from './time-range.ts';
import type { ConditionSplit, TimeContext } from './time-range.ts';

/** Rows and series of the answer; 0 is unlimited. */
export type RowLimits = {
  readonly limit: number;
  readonly offset: number;
  readonly seriesLimit: number;
  readonly seriesOffset: number;
};

export type BoundSelect = {
  readonly split: ConditionSplit;
  readonly limits: RowLimits;
  /** Those of its subqueries, in the order of FROM. */
  readonly subqueries: readonly BoundSelect[];
};

/** Binds a statement whose shape is prepared. Throws the errors of its condition. */
export function bindSelect(
  statement: SelectStatement,
  { zone, sources }: PreparedSelect,
  context: Pick<TimeContext, 'now' | 'onWarning'>,
): BoundSelect {
  const { now, onWarning } = context;
  const split = splitCondition(statement.condition, { now, zone, onWarning });
  const prepared = subqueriesIn(sources);
  const subqueries = subqueriesIn(statement.sources).map(({ statement: own }, i) =>
    bindSelect(own, prepared[i]!.select, context),
  );
  return { split, limits: rowLimits(statement), subqueries };
}

/** The numbers behind LIMIT and the like; 0 for those that are not there. */
export function rowLimits(written: Omit<ShowClauses, 'sources'>): RowLimits {
  const { limit = 0n, offset = 0n, seriesLimit = 0n, seriesOffset = 0n } = written;
  return {
    limit: Number(limit),
    offset: Number(offset),
    seriesLimit: Number(seriesLimit),
    seriesOffset: Number(seriesOffset),
  };
}
