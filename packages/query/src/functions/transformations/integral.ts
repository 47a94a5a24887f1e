// integral: the area under the straight lines between neighbouring points, per unit of time.
import type {
  PointBatch,
  TimeWindow,
  Transformation,
  TransformationContext,
} from '../transformation.ts';
import type { Steps } from '../steps.ts';
import { FloatPoints, floatsOf, noPoints } from './points.ts';

type Options = {
  readonly unitNanos: bigint;
  readonly windowOf: (time: bigint) => TimeWindow;
  readonly hasWindows: boolean;
};

/**
 * Emits the area of each window when a point beyond it is seen, the last one at the end. A line that crosses the border
 * of a window is split there; when it crosses several, what lies behind the first border belongs to the window of the
 * later point. Of points with the same time the last counts. The last window is left out when its only point lies on
 * its start. Without windows there is one result, stamped with the epoch whatever the range is.
 */
export function integral(options: Options, context: TransformationContext): Transformation {
  const { windowOf, hasWindows } = options;
  const { descending } = context;
  const unit = Number(options.unitNanos);
  let previousTime: bigint | undefined;
  let previousValue = 0;
  let area = 0;
  let stamp = 0n;
  /** Where the window ends in the direction of the stream, and where it begins. */
  let far = 0n;
  let near = 0n;

  function enterWindowOf(time: bigint): void {
    if (!hasWindows) return;
    const window = windowOf(time);
    far = descending ? window.start : window.end;
    near = descending ? window.end : window.start;
    stamp = near;
  }

  function addArea(time: bigint, value: number, from: bigint): void {
    area += 0.5 * (value + previousValue) * (Number(time - from) / unit);
  }

  function next(time: bigint, value: number, points: FloatPoints): void {
    if (previousTime === undefined) enterWindowOf(time);
    else if (time !== previousTime) {
      let from = previousTime;
      if (hasWindows && (descending ? time <= far : time >= far)) {
        if (from !== far) {
          const slope = (value - previousValue) / Number(time - from);
          const border = slope * Number(far - from) + previousValue;
          addArea(far, border, from);
          previousValue = border;
          from = far;
        }
        points.addAt(stamp, area);
        enterWindowOf(time);
        area = 0;
      }
      addArea(time, value, from);
    }
    previousTime = time;
    previousValue = value;
  }

  function push(batch: PointBatch): PointBatch {
    const values = floatsOf(batch.values);
    const { valid } = batch.values;
    const points = new FloatPoints(values.length);
    for (let i = 0; i < values.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      next(batch.times[i] ?? 0n, values[i] ?? 0, points);
    }
    return points.batch();
  }

  // oxlint-disable-next-line require-yield -- one point is no work
  function* finish(): Steps<PointBatch> {
    if (previousTime === undefined || previousTime === near) return noPoints('float');
    const points = new FloatPoints(1);
    points.addAt(stamp, area);
    return points.batch();
  }

  return { type: 'float', push, finish };
}
