// Series of Prometheus as points: measurement = metric name, field `value`, labels = tags.
import { MAX_TIME, MIN_TIME, NANOS_PER_MILLISECOND } from '@tidemark/core';
import type { NewPoint } from '@tidemark/storage';

import type { RemoteSeries } from './messages.ts';

export const METRIC_LABEL = '__name__';
export const VALUE_FIELD = 'value';
const UNNAMED_METRIC = 'prom_metric_not_specified';

/**
 * Points of all samples. NaN and infinities can not be stored and are left out; `dropped` counts
 * them.
 */
export function pointsOf(all: readonly RemoteSeries[]): {
  readonly points: readonly NewPoint[];
  readonly dropped: number;
} {
  const points: NewPoint[] = [];
  let dropped = 0;
  for (const { labels, samples } of all) {
    const name = labels.find((label) => label.name === METRIC_LABEL)?.value ?? '';
    const measurement = name === '' ? UNNAMED_METRIC : name;
    const tags = labels
      .filter(({ name: key, value }) => key !== '' && value !== '')
      .map(({ name: key, value }): [string, string] => [key, value]);
    for (const { value, timestampMs } of samples) {
      const time = timestampMs * NANOS_PER_MILLISECOND;
      if (!Number.isFinite(value) || time < MIN_TIME || time > MAX_TIME) {
        dropped++;
        continue;
      }
      points.push({ measurement, tags, fields: [[VALUE_FIELD, value]], time });
    }
  }
  return { points, dropped };
}
