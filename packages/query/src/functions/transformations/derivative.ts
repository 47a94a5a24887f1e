// derivative and non_negative_derivative: change of the value per unit of time between neighbouring
// points.
import type { PointBatch, Transformation, TransformationContext } from '../transformation.ts';
import { differenceOfWords, FloatPoints, floatsOf, wordsOf } from './points.ts';

/**
 * (v2 - v1) / (t2 - t1) · unit, at the time of the later point. Of points with the same time the
 * first counts. The distance is counted in the direction of the query: a descending stream gives
 * the opposite sign of an ascending one; it is negative where a subquery's points jump back. A
 * negative result that is left out still makes its point the base of the next.
 */
export function derivative(
  options: { readonly unitNanos: bigint; readonly isNonNegative: boolean },
  context: TransformationContext,
): Transformation {
  const { isNonNegative } = options;
  const unit = Number(options.unitNanos);
  const isWide = context.inputType !== 'float';
  let hasPrevious = false;
  let previous = 0;
  let valueLow = 0;
  let valueHigh = 0;
  let timeLow = 0;
  let timeHigh = 0;

  function push(batch: PointBatch): PointBatch {
    const times = wordsOf(batch.times);
    const { values } = batch;
    const { valid } = values;
    const floats = isWide ? undefined : floatsOf(values);
    const words =
      values.type === 'integer' || values.type === 'unsigned' ? wordsOf(values.values) : undefined;
    const isUnsigned = values.type === 'unsigned';
    const points = new FloatPoints(batch.times.length);
    for (let i = 0; i < batch.times.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      const low = times[2 * i] ?? 0;
      const high = times[2 * i + 1] ?? 0;
      if (hasPrevious && low === timeLow && high === timeHigh) continue;
      const value = floats?.[i] ?? 0;
      const wordLow = words?.[2 * i] ?? 0;
      const word = words?.[2 * i + 1] ?? 0;
      const wordHigh = isUnsigned ? word >>> 0 : word;
      if (hasPrevious) {
        // Integers are subtracted before they become floats: neighbours beyond 2^53 differ exactly.
        const difference =
          floats === undefined
            ? differenceOfWords(wordLow, wordHigh, valueLow, valueHigh)
            : value - previous;
        const forward = differenceOfWords(low, high, timeLow, timeHigh);
        const distance = context.descending ? -forward : forward;
        if (!isNonNegative || !(difference < 0)) {
          points.add(times, i, difference / (distance / unit));
        }
      }
      hasPrevious = true;
      previous = value;
      valueLow = wordLow;
      valueHigh = wordHigh;
      timeLow = low;
      timeHigh = high;
    }
    return points.batch();
  }

  return { type: 'float', push };
}
