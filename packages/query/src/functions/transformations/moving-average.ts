// moving_average: the mean of the last N points.
import type { PointBatch, Transformation, TransformationContext } from '../transformation.ts';
import { FloatPoints, floatsOf, noPoints, wordsOf } from './points.ts';
import { floatRing, integerRing } from './ring.ts';

/**
 * Emits from the N-th point on, at the time of the newest. Values that leave the window are
 * subtracted from a running sum, so that floats show the same rounding as in InfluxDB. Sums of
 * integers are exact.
 */
export function movingAverage(
  options: { readonly points: number },
  context: TransformationContext,
): Transformation {
  return context.inputType === 'float'
    ? floatAverage(options.points, context)
    : integerAverage(options.points, context);
}

function floatAverage(size: number, { hold }: TransformationContext): Transformation {
  const ring = floatRing(size, hold);
  let sum = 0;

  function push(batch: PointBatch): PointBatch {
    const times = wordsOf(batch.times);
    const values = floatsOf(batch.values);
    const { valid } = batch.values;
    const points = new FloatPoints(values.length);
    for (let i = 0; i < values.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      const value = values[i] ?? 0;
      sum -= ring.add(value);
      sum += value;
      if (ring.isFull) points.add(times, i, sum / size);
    }
    return points.batch();
  }

  return { type: 'float', push, finish: () => ring.finish() };
}

/** Bigints: a window beyond 2^53 must not lose digits, nor one beyond 2^63 its sign. */
function integerAverage(size: number, { hold }: TransformationContext): Transformation {
  const ring = integerRing(size, hold);
  let sum = 0n;

  function push(batch: PointBatch): PointBatch {
    const { values } = batch;
    if (values.type !== 'integer' && values.type !== 'unsigned') return noPoints('float');
    const times = wordsOf(batch.times);
    const { valid } = values;
    const points = new FloatPoints(batch.times.length);
    for (let i = 0; i < batch.times.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      const value = values.values[i] ?? 0n;
      sum += value - ring.add(value);
      if (ring.isFull) points.add(times, i, Number(sum) / size);
    }
    return points.batch();
  }

  return { type: 'float', push, finish: () => ring.finish() };
}
