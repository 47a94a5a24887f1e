// moving_average: the mean of the last N points.
import type { PointBatch, Transformation, TransformationContext } from '../transformation.ts';
import { FloatPoints, floatsOf, noPoints, wordsOf } from './points.ts';

/**
 * Emits from the N-th point on, at the time of the newest. The sum is carried along: what leaves the window is
 * subtracted, so that floats show the same rounding as existing clients know. Sums of integers are exact.
 */
export function movingAverage(
  options: { readonly points: number },
  context: TransformationContext,
): Transformation {
  return context.inputType === 'float'
    ? floatAverage(options.points)
    : integerAverage(options.points, context.inputType === 'unsigned');
}

function floatAverage(size: number): Transformation {
  const ring = new Ring(size);
  let sum = 0;

  function push(batch: PointBatch): PointBatch {
    const times = wordsOf(batch.times);
    const values = floatsOf(batch.values);
    const { valid } = batch.values;
    const points = new FloatPoints(values.length);
    for (let i = 0; i < values.length; i++) {
      if (valid !== undefined && valid[i] === 0) continue;
      const value = values[i] ?? 0;
      if (ring.isFull) sum -= ring.oldest();
      ring.add(value);
      sum += value;
      if (ring.isFull) points.add(times, i, sum / size);
    }
    return points.batch();
  }

  return { type: 'float', push };
}

/** Sums wrap in 64 bits, as `sum` does. Bigints: a window beyond 2^53 must not lose digits. */
function integerAverage(size: number, isUnsigned: boolean): Transformation {
  const ring: bigint[] = [];
  let at = 0;
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
      sum += value - (ring[at] ?? 0n);
      ring[at] = value;
      at = (at + 1) % size;
      if (ring.length < size) continue;
      const wrapped = isUnsigned ? BigInt.asUintN(64, sum) : BigInt.asIntN(64, sum);
      points.add(times, i, Number(wrapped) / size);
    }
    return points.batch();
  }

  return { type: 'float', push };
}

/** The last `size` numbers; grows up to it, since the size comes from a query. */
class Ring {
  readonly #size: number;
  readonly #values: number[] = [];
  #at = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get isFull(): boolean {
    return this.#values.length === this.#size;
  }

  oldest(): number {
    return this.#values[this.#at] ?? 0;
  }

  add(value: number): void {
    this.#values[this.#at] = value;
    this.#at = this.#at + 1 === this.#size ? 0 : this.#at + 1;
  }
}
