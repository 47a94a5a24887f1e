// holt_winters and holt_winters_with_fit over the points of a query.
import { FloatPoints, floatsOf, noPoints } from '../transformations/points.ts';
import type { Calculation } from '../steps.ts';
import { STEP_ITEMS } from '../steps.ts';
import type { PointBatch, Transformation, TransformationContext } from '../transformation.ts';
import { forecast, forecastSize } from './forecast.ts';
import type { ForecastOptions } from './forecast.ts';

/** Bytes of a collected point: its time and its value. */
const POINT_BYTES = 40;

/**
 * Collects all points and emits everything at the end: `predictions` values after the last point,
 * one interval apart. Emits nothing for fewer than two points or less than one season.
 */
export function holtWinters(
  options: ForecastOptions,
  { hold }: TransformationContext,
): Transformation {
  const times: bigint[] = [];
  const values: number[] = [];
  let heldBytes = 0;

  function take(bytes: number): void {
    heldBytes += bytes;
    hold(bytes);
  }

  function push(batch: PointBatch): PointBatch {
    const floats = floatsOf(batch.values);
    const { valid } = batch.values;
    for (let i = 0; i < floats.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      times.push(batch.times[i] ?? 0n);
      values.push(floats[i] ?? 0);
    }
    take(floats.length * POINT_BYTES);
    return noPoints('float');
  }

  function* finish(): Calculation<PointBatch> {
    const points = yield* predicted();
    hold(-heldBytes);
    return points;
  }

  function* predicted(): Calculation<PointBatch> {
    const [first, last] = [times[0], times.at(-1)];
    if (first === undefined || last === undefined) return noPoints('float');
    take(forecastSize(first, last, options).sizeBytes);
    const found = yield* forecast(times, values, options);
    if (found === undefined) return noPoints('float');
    const points = new FloatPoints(found.values.length);
    for (const [i, value] of found.values.entries()) {
      if (!Number.isNaN(value))
        points.addAt(found.start + options.intervalNanos * BigInt(i), value);
      if ((i + 1) % STEP_ITEMS === 0) yield;
    }
    return points.batch();
  }

  return { type: 'float', push, finish };
}
