// integral: the area under the straight lines between neighbouring points, per unit of time.
import type {
  PointBatch,
  TimeWindow,
  Transformation,
  TransformationContext,
} from '../transformation.ts';
import { STEP_ITEMS } from '../steps.ts';
import { FloatPoints, floatsOf, noPoints } from './points.ts';
import type { Calculation } from '../steps.ts';

type Options = {
  readonly unitNanos: bigint;
  readonly windowOf: ((time: bigint) => TimeWindow) | undefined;
  readonly wholeStamp: bigint;
};

/**
 * Emits the area of each window when a point beyond it is seen, the last one at the end. A line
 * that crosses borders of windows is split at each of them, so that windows without a point of
 * their own have the area under the line, too. Among points with the same time the last counts. The
 * last window is left out when its only point lies on its start, which is the stamp of the one
 * result where there are no windows.
 */
export function integral(options: Options, context: TransformationContext): Transformation {
  const { windowOf, wholeStamp } = options;
  const { descending } = context;
  const unit = Number(options.unitNanos);
  let previousTime: bigint | undefined;
  let previousValue = 0;
  let area = 0;
  /** Where the window ends in the direction of the stream, and where it begins: its stamp. */
  let far = 0n;
  let near = wholeStamp;
  let points = new FloatPoints(STEP_ITEMS);

  function enterWindowOf(time: bigint): void {
    if (windowOf === undefined) return;
    const window = windowOf(time);
    far = descending ? window.start : window.end;
    near = descending ? window.end : window.start;
    area = 0;
  }

  function addArea(time: bigint, value: number, from: bigint): void {
    area += 0.5 * (value + previousValue) * (Number(time - from) / unit);
  }

  function takePoints(): PointBatch {
    const batch = points.batch();
    points = new FloatPoints(STEP_ITEMS);
    return batch;
  }

  /**
   * Follows the line from the last point over the borders before a point; yields the windows that
   * it completes.
   */
  function* crossBorders(start: bigint, time: bigint, value: number): Iterable<PointBatch> {
    const slope = (value - previousValue) / Number(time - start);
    let from = start;
    while (descending ? time <= far : time >= far) {
      if (from !== far) {
        const border = slope * Number(far - from) + previousValue;
        addArea(far, border, from);
        previousValue = border;
        from = far;
      }
      points.addAt(near, area);
      if (points.count === STEP_ITEMS) yield takePoints();
      enterWindowOf(descending ? far - 1n : far);
    }
    previousTime = from;
  }

  function* pushInParts(batch: PointBatch): Iterable<PointBatch> {
    const values = floatsOf(batch.values);
    const { valid } = batch.values;
    for (let i = 0; i < values.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      const time = batch.times[i] ?? 0n;
      const value = values[i] ?? 0;
      if (previousTime === undefined) enterWindowOf(time);
      else if (time !== previousTime) {
        const isBeyond = windowOf !== undefined && (descending ? time <= far : time >= far);
        if (isBeyond) yield* crossBorders(previousTime, time, value);
        addArea(time, value, previousTime);
      }
      previousTime = time;
      previousValue = value;
    }
    if (points.count > 0) yield takePoints();
  }

  // oxlint-disable-next-line require-yield -- one point is no work
  function* finish(): Calculation<PointBatch> {
    if (previousTime === undefined || previousTime === near) return noPoints('float');
    const last = new FloatPoints(1);
    last.addAt(near, area);
    return last.batch();
  }

  return { type: 'float', push: (batch) => joined(pushInParts(batch)), pushInParts, finish };
}

function joined(parts: Iterable<PointBatch>): PointBatch {
  const batches = [...parts];
  const all = new FloatPoints(batches.reduce((sum, { times }) => sum + times.length, 0));
  for (const { times, values } of batches) {
    const floats = floatsOf(values);
    times.forEach((time, i) => all.addAt(time, floats[i] ?? 0));
  }
  return all.batch();
}
