// difference and non_negative_difference: change of the value between neighbouring points, in the
// type of the field.
import type { PointBatch, Transformation, TransformationContext } from '../transformation.ts';
import { FloatPoints, floatsOf, IntegerPoints, noPoints, wordsOf } from './points.ts';

type Options = { readonly isNonNegative: boolean };

/**
 * v2 - v1 at the time of the later point; 64-bit integers wrap. Of points with the same time the
 * first counts. A negative result that is left out still makes its point the base of the next.
 */
export function difference(options: Options, context: TransformationContext): Transformation {
  return context.inputType === 'float'
    ? floatDifference(options)
    : integerDifference(options, context.inputType === 'unsigned' ? 'unsigned' : 'integer');
}

function floatDifference({ isNonNegative }: Options): Transformation {
  let hasPrevious = false;
  let previous = 0;
  let timeLow = 0;
  let timeHigh = 0;

  function push(batch: PointBatch): PointBatch {
    const times = wordsOf(batch.times);
    const values = floatsOf(batch.values);
    const { valid } = batch.values;
    const points = new FloatPoints(values.length);
    for (let i = 0; i < values.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      const low = times[2 * i] ?? 0;
      const high = times[2 * i + 1] ?? 0;
      if (hasPrevious && low === timeLow && high === timeHigh) continue;
      const value = values[i] ?? 0;
      const change = value - previous;
      if (hasPrevious && (!isNonNegative || !(change < 0))) points.add(times, i, change);
      hasPrevious = true;
      previous = value;
      timeLow = low;
      timeHigh = high;
    }
    return points.batch();
  }

  return { type: 'float', push };
}

function integerDifference(
  { isNonNegative }: Options,
  type: 'integer' | 'unsigned',
): Transformation {
  let hasPrevious = false;
  let previousLow = 0;
  let previousHigh = 0;
  let timeLow = 0;
  let timeHigh = 0;

  function push(batch: PointBatch): PointBatch {
    const { values } = batch;
    if (values.type !== 'integer' && values.type !== 'unsigned') return noPoints(type);
    const times = wordsOf(batch.times);
    const words = wordsOf(values.values);
    const { valid } = values;
    const points = new IntegerPoints(type, batch.times.length);
    for (let i = 0; i < batch.times.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      const tLow = times[2 * i] ?? 0;
      const tHigh = times[2 * i + 1] ?? 0;
      if (hasPrevious && tLow === timeLow && tHigh === timeHigh) continue;
      const low = words[2 * i] ?? 0;
      const high = words[2 * i + 1] ?? 0;
      const borrow = low >>> 0 < previousLow >>> 0 ? 1 : 0;
      const changeHigh = (high - previousHigh - borrow) | 0;
      // An unsigned difference has no sign; it would be negative when it borrows beyond its highest
      // bit.
      const isNegative =
        type === 'integer' ? changeHigh < 0 : (high >>> 0) - borrow < previousHigh >>> 0;
      if (hasPrevious && !(isNonNegative && isNegative)) {
        points.add(times, i, (low - previousLow) | 0, changeHigh);
      }
      hasPrevious = true;
      previousLow = low;
      previousHigh = high;
      timeLow = tLow;
      timeHigh = tHigh;
    }
    return points.batch();
  }

  return { type, push };
}
