// Reads whole series, one after another, without merging or evaluation.
import type { GroupKey, RowBatch } from '../batch/row-batch.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { requestOptions } from '../look-up.ts';
import { mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';
import type { RowsPlan } from '../plan/physical-plan.ts';

/** Rows of every series in the order of keys; each series is a group of its own. */
export function* scanSeries(
  { select, field, sources }: RowsPlan & { readonly kind: 'series' },
  execution: ExecutionContext,
): Operator<RowBatch> {
  const { query } = execution;
  for (const source of sources) {
    const request = {
      source: source.measurement,
      timeRange: select.range,
      where: select.condition.pushed,
      descending: false,
      groupBy: 'all',
      fields: [field],
    } as const;
    const scanned = execution.read('scan', source, {
      from: query.snapshot.scan(request, requestOptions(query)),
      rowsOf: (batch) => batch.times.length,
    });
    const name = source.measurement.measurement;
    let group: GroupKey | undefined;
    yield* mapBatches(scanned, ({ seriesKey: key, tags, times, columns }) => {
      if (group?.series?.key !== key) {
        group = { name, tags: [], series: { key, tags } };
        execution.countSeries(key);
      }
      execution.countPoints(times.length);
      return { group, times, columns };
    });
  }
}
