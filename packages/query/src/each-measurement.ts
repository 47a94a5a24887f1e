// Answers a request for aggregates of several measurements, for sources that read one at a time.
import { isPause } from './operator.ts';
import type { Operator } from './operator.ts';
import type { AggregateBatch, AggregateRequest, MeasurementAggregates } from './series-source.ts';

/** Answers measurement by measurement, each with the result of `answer`. */
export function* eachMeasurement(
  { sources, ...common }: AggregateRequest,
  answer: (request: MeasurementAggregates) => Operator<AggregateBatch>,
): Operator<AggregateBatch> {
  for (const [place, source] of sources.entries()) {
    for (const batch of answer({ ...common, source })) {
      yield isPause(batch) || place === 0 ? batch : { ...batch, source: place };
    }
  }
}
