// elapsed: time between neighbouring points.
import type { PointBatch, Transformation } from '../transformation.ts';
import { IntegerPoints, wordsOf } from './points.ts';

/**
 * (t2 - t1) / unit, cut off toward zero, at the time of the later point; negative for a descending
 * stream.
 */
export function elapsed(options: { readonly unitNanos: bigint }): Transformation {
  const { unitNanos } = options;
  let previous: bigint | undefined;

  function push(batch: PointBatch): PointBatch {
    const { times } = batch;
    const { valid } = batch.values;
    const timeWords = wordsOf(times);
    const points = new IntegerPoints('integer', times.length);
    const result = new BigInt64Array(1);
    const resultWords = wordsOf(result);
    for (let i = 0; i < times.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      const time = times[i] ?? 0n;
      if (previous !== undefined) {
        result[0] = (time - previous) / unitNanos;
        points.add(timeWords, i, resultWords[0] ?? 0, resultWords[1] ?? 0);
      }
      previous = time;
    }
    return points.batch();
  }

  return { type: 'integer', push };
}
