// The exponentially weighted mean used by the technical analysis functions.
import type { Technical, WarmUp } from '../transformation.ts';
import type { Indicator } from './indicator.ts';

/**
 * A running mean in which each value weighs `weight`. Until `period` values were seen it is warming
 * up: with 'exponential' the weight is that of a mean over the values seen so far, with 'simple' it
 * is their plain mean.
 */
export class ExponentialAverage {
  readonly #period: number;
  readonly #warmUp: WarmUp;
  readonly #weight: number;
  #count = 0;
  #mean = 0;

  /** `weight` is 2 / (period + 1) unless given. */
  constructor(period: number, warmUp: WarmUp, weight: number = 2 / (period + 1)) {
    this.#period = period;
    this.#warmUp = warmUp;
    this.#weight = weight;
  }

  /** Whether the mean can be used; one that warms up exponentially can be used at once. */
  get isUsable(): boolean {
    return this.#warmUp === 'exponential' || this.isWarm;
  }

  get isWarm(): boolean {
    return this.#count === this.#period;
  }

  /** Takes a value, returns the mean. */
  add(value: number): number {
    if (this.#count === 0) this.#mean = value;
    else if (this.isWarm) this.#mean += (value - this.#mean) * this.#weight;
    else if (this.#warmUp === 'exponential') {
      this.#mean += (value - this.#mean) * (2 / (this.#count + 2));
    } else {
      this.#mean = (this.#mean * this.#count + value) / (this.#count + 1);
    }
    if (!this.isWarm) this.#count++;
    return this.#mean;
  }
}

/** Exponential means of each other; one that is not usable yet passes its mean on as it is. */
export class NestedMeans {
  readonly #stages: readonly ExponentialAverage[];
  /** The means after the last value, from that of the values on. */
  readonly all: Float64Array;

  constructor(count: number, { period, warmUp }: Technical) {
    this.#stages = Array.from({ length: count }, () => new ExponentialAverage(period, warmUp));
    this.all = new Float64Array(count);
  }

  /** Takes a value, returns the last mean. */
  add(value: number): number {
    let mean = value;
    let isUsable = true;
    for (let i = 0; i < this.#stages.length; i++) {
      const stage = this.#stages[i]!;
      if (isUsable) {
        mean = stage.add(mean);
        isUsable = stage.isUsable;
      }
      this.all[i] = mean;
    }
    return mean;
  }
}

/**
 * An indicator of the means of the moves up and down, which weigh 1 / period. The first value moves
 * from 0.
 */
export function ofMoves(
  { period, warmUp }: Pick<Technical, 'period' | 'warmUp'>,
  indicator: (up: number, down: number) => number,
): Indicator {
  const ups = new ExponentialAverage(period + 1, warmUp, 1 / period);
  const downs = new ExponentialAverage(period + 1, warmUp, 1 / period);
  let previous = 0;
  return (value) => {
    const up = ups.add(value > previous ? value - previous : 0);
    const down = downs.add(value < previous ? previous - value : 0);
    previous = value;
    return indicator(up, down);
  };
}
