// The common part of the technical analysis functions: numbers in, one number per point out, the
// first ones held back.
import type { PointBatch, Transformation } from '../transformation.ts';
import { FloatPoints, floatsOf, noPoints, wordsOf } from './points.ts';
import type { Ring } from './ring.ts';
import type { Calculation } from '../steps.ts';

/** Takes the next value and returns the indicator's. */
export type Indicator = (value: number) => number;

/**
 * Runs an indicator over points. The first `hold` results are not emitted; infinite ones never are,
 * while NaN is emitted and prints as null. The memory of the indicator's rings is given back at the
 * end.
 */
export function indicatorTransformation(
  indicator: Indicator,
  hold: number,
  rings: readonly Ring<number>[] = [],
): Transformation {
  let held = 0;

  function push(batch: PointBatch): PointBatch {
    const times = wordsOf(batch.times);
    const values = floatsOf(batch.values);
    const { valid } = batch.values;
    const points = new FloatPoints(values.length);
    for (let i = 0; i < values.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      const result = indicator(values[i] ?? 0);
      if (held < hold) held++;
      else if (result !== Infinity && result !== -Infinity) points.add(times, i, result);
    }
    return points.batch();
  }

  function* finish(): Calculation<PointBatch> {
    for (const ring of rings) yield* ring.finish();
    return noPoints('float');
  }

  return { type: 'float', push, finish };
}

/** `hold` as given, or the indicator's own when it is -1. */
export function holdPeriod(hold: number, natural: number): number {
  return hold === -1 ? natural : hold;
}
