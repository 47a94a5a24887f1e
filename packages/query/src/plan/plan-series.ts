// The plan for reading whole series in the order of their keys, which no SELECT does. Remote reads
// use it.
import type { TimeRange } from '@tidemark/core';

import type { FieldRef, MeasurementRef, Predicate } from '../series-source.ts';
import type { PhysicalPlan } from './physical-plan.ts';
import type { MeasurementPlan, SelectPlan } from './select-plan.ts';

/** A read of one field of the series of some measurements. */
export type SeriesRead = {
  /** In the order of the answer. */
  readonly measurements: readonly MeasurementRef[];
  readonly field: FieldRef;
  readonly range: TimeRange;
  /** Conditions on tags. */
  readonly where: Predicate | undefined;
};

/** The only plan for such a read. */
export function planSeries({ measurements, field, range, where }: SeriesRead): PhysicalPlan {
  const { name, type } = field;
  const sources = measurements.map((measurement): MeasurementPlan => {
    return { kind: 'measurement', measurement, tagKeys: new Set(), shards: [] };
  });
  const expression = { kind: 'column', index: 0, type } as const;
  const select: SelectPlan = {
    sources,
    inputs: [{ kind: 'field', name, type }],
    selectedInputCount: 1,
    condition: { pushed: where, residual: undefined, whole: undefined },
    calls: [],
    auxiliaryInputs: [],
    outputs: [{ name, expression, type, isTag: false, isIntoTag: false }],
    timeColumnName: 'time',
    dimensions: [],
    range,
    readableRange: undefined,
    interval: undefined,
    zone: undefined,
    fill: { kind: 'none' },
    descending: false,
    limit: 0,
    offset: 0,
    seriesLimit: 0,
    seriesOffset: 0,
  };
  return { select, rows: { kind: 'series', select, field, sources } };
}
