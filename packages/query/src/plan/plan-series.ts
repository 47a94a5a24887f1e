// The plan for reading whole series in the order of their keys, which no SELECT does: that of the
// SELECT with the same conditions, with other rows. Remote reads use it.
import { assert, ByteLru, MAX_TIME, MIN_TIME } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import { measurementsIn } from '@tidemark/influxql';
import type { BinaryOperator, Expression, MeasurementSource } from '@tidemark/influxql';

import type { QueryContext } from '../context.ts';
import { SERIES_SHAPES_BYTES } from '../limits.ts';
import type { Steps } from '../operator.ts';
import { inNameOrder } from './physical-plan.ts';
import type { PhysicalPlan } from './physical-plan.ts';
import { planStatement } from './plan-statement.ts';

/** A read of one field, as floats, of the series of some measurements. */
export type SeriesRead = {
  readonly source: Omit<MeasurementSource, 'kind' | 'span'>;
  /** Whether a measurement of the source is read. */
  readonly isRead: (measurement: string) => boolean;
  readonly field: string;
  readonly range: TimeRange;
  readonly tags: readonly TagCondition[];
};

export type TagCondition = {
  readonly key: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  /** A pattern behind `=~` and `!~`. */
  readonly value: string;
};

/** What the statements of reads that differ only in values and times have in common. */
const SHAPES = new ByteLru<string, object>(SERIES_SHAPES_BYTES);

/** Waits only for the names of the measurements. */
export function* planSeries(read: SeriesRead, context: QueryContext): Steps<PhysicalPlan> {
  const { select: planned } = yield* planStatement(statementOf(read), context);
  const sources = measurementsIn(inNameOrder(planned)).filter(({ measurement }) =>
    read.isRead(measurement.measurement),
  );
  const select = { ...planned, sources };
  assert(select.condition.residual === undefined, 'the source tests tags');
  const field = { name: read.field, type: 'float' } as const;
  return { select, rows: { kind: 'series', select, field, sources } };
}

const span = { start: 0, end: 0 };

function statementOf({ source, field, range: { start, end }, tags }: SeriesRead) {
  const conditions = tags.map(({ key, operator, value }) =>
    comparison(
      { kind: 'reference', name: key, cast: 'tag', span },
      operator,
      operator === '=' || operator === '!='
        ? { kind: 'string', value, span }
        : { kind: 'regex', pattern: value, span },
    ),
  );
  const time: Expression = { kind: 'reference', name: 'time', span };
  const bound = (value: bigint): Expression => ({ kind: 'integer', value, span });
  if (start > MIN_TIME) conditions.push(comparison(time, '>=', bound(start)));
  if (end < MAX_TIME) conditions.push(comparison(time, '<=', bound(end)));
  const [first, ...others] = conditions;
  const condition = first && others.reduce((left, right) => comparison(left, 'AND', right), first);
  const id = JSON.stringify([source, field, tags.map(({ key, operator }) => [key, operator])]);
  let shape = SHAPES.get(id);
  if (shape === undefined) SHAPES.set(id, (shape = {}), id.length);
  return {
    kind: 'select',
    fields: [{ expression: { kind: 'reference', name: field, cast: 'float', span }, span }],
    sources: [{ kind: 'measurement', ...source, span }],
    condition,
    dimensions: [],
    shape,
    span,
  } as const;
}

function comparison(left: Expression, operator: BinaryOperator, right: Expression): Expression {
  return { kind: 'binary', operator, left, right, span };
}
