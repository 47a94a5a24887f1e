// cumulative_sum: the running total, in the type of the field.
import type { PointBatch, Transformation, TransformationContext } from '../transformation.ts';
import { FloatPoints, floatsOf, IntegerPoints, noPoints, wordsOf } from './points.ts';

/** One result per point, points with the same time included; 64-bit integers wrap. */
export function cumulativeSum(context: TransformationContext): Transformation {
  return context.inputType === 'float'
    ? floatSum()
    : integerSum(context.inputType === 'unsigned' ? 'unsigned' : 'integer');
}

function floatSum(): Transformation {
  let sum = 0;

  function push(batch: PointBatch): PointBatch {
    const times = wordsOf(batch.times);
    const values = floatsOf(batch.values);
    const { valid } = batch.values;
    const points = new FloatPoints(values.length);
    for (let i = 0; i < values.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      sum += values[i] ?? 0;
      points.add(times, i, sum);
    }
    return points.batch();
  }

  return { type: 'float', push };
}

function integerSum(type: 'integer' | 'unsigned'): Transformation {
  let sumLow = 0;
  let sumHigh = 0;

  function push(batch: PointBatch): PointBatch {
    const { values } = batch;
    if (values.type !== 'integer' && values.type !== 'unsigned') return noPoints(type);
    const times = wordsOf(batch.times);
    const words = wordsOf(values.values);
    const { valid } = values;
    const points = new IntegerPoints(type, batch.times.length);
    for (let i = 0; i < batch.times.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      const low = (sumLow >>> 0) + ((words[2 * i] ?? 0) >>> 0);
      const carry = low > 0xffffffff ? 1 : 0;
      sumLow = low | 0;
      sumHigh = (sumHigh + (words[2 * i + 1] ?? 0) + carry) | 0;
      points.add(times, i, sumLow, sumHigh);
    }
    return points.batch();
  }

  return { type, push };
}
