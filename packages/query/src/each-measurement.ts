// Answers a request for aggregates of several measurements, for sources that read one at a time.
import { mapBatches } from './operator.ts';
import type { Operator } from './operator.ts';
import type { AggregateBatch, AggregateRequest, MeasurementAggregates } from './series-source.ts';

/** Answers measurement by measurement, each with the result of `answer`. */
export function* eachMeasurement(
  { sources, ...common }: AggregateRequest,
  answer: (request: MeasurementAggregates) => Operator<AggregateBatch>,
): Operator<AggregateBatch> {
  for (const [place, source] of sources.entries()) {
    const batches = answer({ ...common, source });
    if (place === 0) yield* batches;
    else yield* mapBatches(batches, (batch) => ({ ...batch, source: place }));
  }
}
