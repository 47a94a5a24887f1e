// Series of Prometheus as points: measurement = metric name, field `value`, labels = tags.
import { MAX_TIME, MIN_TIME, NANOS_PER_MILLISECOND } from '@tidemark/core';
import type { NewPoint } from '@tidemark/storage-api';

import { LIMITS } from '../limits.ts';
import { checkWriteRequest, readWriteRequest } from './messages.ts';
import type { RemoteSeries } from './messages.ts';

export const METRIC_LABEL = '__name__';
export const VALUE_FIELD = 'value';
const PORTION_POINTS = LIMITS.remoteWritePoints.value;
const UNNAMED_METRIC = 'prom_metric_not_specified';

/**
 * The part of a request that is written at once; NaN and infinities cannot be stored and are
 * `dropped`.
 */
type Portion = { readonly points: readonly NewPoint[]; readonly dropped: number };

/**
 * Points of a WriteRequest in portions of some thousand, because points take twelve times as much
 * memory as the body. Throws `InvalidRequest` before the first one if any part of the body is
 * invalid.
 */
export function* portionsOf(body: Uint8Array): Generator<Portion, void, undefined> {
  const portions = pointsOf(readWriteRequest(body, PORTION_POINTS));
  let portion = portions.next();
  let following = portions.next();
  // A body that fits one portion has been checked by reading it.
  if (following.done !== true) checkWriteRequest(body);
  while (portion.done !== true) {
    yield portion.value;
    portion = following;
    following = portions.next();
  }
}

function* pointsOf(all: Iterable<RemoteSeries>): Generator<Portion, void, undefined> {
  let points: NewPoint[] = [];
  let dropped = 0;
  for (const { labels, samples } of all) {
    const name = labels.find((label) => label.name === METRIC_LABEL)?.value ?? '';
    const measurement = name === '' ? UNNAMED_METRIC : name;
    const tags = labels
      .filter(({ name: key, value }) => key !== '' && value !== '')
      .map(({ name: key, value }): [string, string] => [key, value]);
    if (points.length + samples.length > PORTION_POINTS && points.length > 0) {
      yield { points, dropped };
      points = [];
      dropped = 0;
    }
    for (const { value, timestampMs } of samples) {
      const time = timestampMs * NANOS_PER_MILLISECOND;
      if (!Number.isFinite(value) || time < MIN_TIME || time > MAX_TIME) {
        dropped++;
        continue;
      }
      points.push({ measurement, tags, fields: [[VALUE_FIELD, value]], time });
    }
  }
  yield { points, dropped };
}
