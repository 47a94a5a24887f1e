// Minimisation without derivatives: a simplex of n + 1 points crawls downhill (Nelder and Mead,
// 1965). The order of steps, the start simplex and the test for convergence are those of InfluxDB,
// so that predictions agree with those that clients expect in (nearly) all digits.

import type { Calculation } from '../steps.ts';

const REFLECTION = 1;
const CONTRACTION = 0.5;
const EXPANSION = 2;
const MAX_ITERATIONS = 1000;
const SCALE = 1;

/**
 * A function to minimise. It may move the given point, for example into the allowed range: the
 * simplex goes on with the moved point. It decides when to pause, and returns a number if it need
 * not.
 */
export type Objective = (point: Float64Array) => number | Calculation<number>;

export type Minimum = { readonly value: number; readonly point: Float64Array };

/**
 * Searches a minimum near `start`, until the values of the simplex differ by less than `epsilon`.
 */
export function* minimise(
  objective: Objective,
  start: Float64Array,
  epsilon: number,
): Calculation<Minimum> {
  const simplex = new Simplex(objective, start);
  yield* simplex.measure();
  for (let i = 0; i < MAX_ITERATIONS; i++) {
    yield* simplex.step();
    if (simplex.spread() < epsilon) break;
  }
  return yield* simplex.best();
}

/** Memory of the simplex of a search in this many dimensions. */
export function simplexBytes(dimensions: number): number {
  return (dimensions + 1) * (dimensions + 1) * Float64Array.BYTES_PER_ELEMENT;
}

class Simplex {
  readonly #objective: Objective;
  readonly #size: number;
  readonly #points: readonly Float64Array[];
  readonly #values: Float64Array;

  constructor(objective: Objective, start: Float64Array) {
    const size = start.length;
    const root = Math.sqrt(size + 1);
    const far = (SCALE * (root - 1 + size)) / (size * Math.SQRT2);
    const near = (SCALE * (root - 1)) / (size * Math.SQRT2);
    const points = [Float64Array.from(start)];
    for (let i = 0; i < size; i++) {
      points.push(start.map((coordinate, j) => (i === j ? far : near) + coordinate));
    }
    this.#objective = objective;
    this.#size = size;
    this.#points = points;
    this.#values = new Float64Array(points.length);
  }

  /** Computes the values of the start simplex; call it first. */
  *measure(): Calculation {
    for (const [i, point] of this.#points.entries()) {
      const found = this.#objective(point);
      this.#values[i] = typeof found === 'number' ? found : yield* found;
    }
  }

  /** Replaces the worst point, or draws all points toward the best one. */
  *step(): Calculation {
    const { worst, second, best } = this.#ranks();
    const worstPoint = this.#point(worst);
    const centre = this.#centreWithout(worst);
    const reflected = along(centre, worstPoint, -REFLECTION);
    const found = this.#objective(reflected);
    const value = typeof found === 'number' ? found : yield* found;
    const bestValue = this.#value(best);
    if (value < bestValue) {
      const expanded = along(centre, reflected, EXPANSION);
      const foundThere = this.#objective(expanded);
      const expandedValue = typeof foundThere === 'number' ? foundThere : yield* foundThere;
      if (expandedValue < value) this.#replace(worst, expanded, expandedValue);
      else this.#replace(worst, reflected, value);
    } else if (value < this.#value(second)) {
      this.#replace(worst, reflected, value);
    }
    // `second` may be the point that was just replaced; the comparison is with its present value.
    if (value >= this.#value(second))
      yield* this.#contract({ worst, second, best, reflected, value, centre });
  }

  /** Standard deviation of the values. */
  spread(): number {
    let sum = 0;
    for (const value of this.#values) sum += value;
    const mean = sum / (this.#size + 1);
    let squares = 0;
    for (const value of this.#values) squares += (value - mean) ** 2 / this.#size;
    return Math.sqrt(squares);
  }

  *best(): Calculation<Minimum> {
    const vertex = this.#point(this.#ranks().best);
    // The objective may move its argument; the copy keeps the original.
    const point = Float64Array.from(vertex);
    const found = this.#objective(vertex);
    return { value: typeof found === 'number' ? found : yield* found, point };
  }

  *#contract(state: {
    readonly worst: number;
    readonly second: number;
    readonly best: number;
    readonly reflected: Float64Array;
    readonly value: number;
    readonly centre: Float64Array;
  }): Calculation {
    const { worst, second, best, centre } = state;
    const toward = state.value < this.#value(worst) ? state.reflected : this.#point(worst);
    const contracted = along(centre, toward, CONTRACTION);
    const found = this.#objective(contracted);
    const value = typeof found === 'number' ? found : yield* found;
    if (value < this.#value(worst)) {
      this.#replace(worst, contracted, value);
      return;
    }
    const target = this.#point(best);
    for (const [i, point] of this.#points.entries()) {
      if (i === best) continue;
      for (let j = 0; j < this.#size; j++) {
        const anchor = target[j] ?? 0;
        point[j] = anchor + ((point[j] ?? 0) - anchor) / 2;
      }
    }
    for (const index of [worst, second]) {
      const drawn = this.#objective(this.#point(index));
      this.#values[index] = typeof drawn === 'number' ? drawn : yield* drawn;
    }
  }

  /** Indexes of the largest, the largest below that, and the smallest value. */
  #ranks(): { readonly worst: number; readonly second: number; readonly best: number } {
    const values = this.#values;
    let worst = 0;
    let best = 0;
    for (const [i, value] of values.entries()) {
      if (value > this.#value(worst)) worst = i;
      if (value < this.#value(best)) best = i;
    }
    let second = best;
    for (const [i, value] of values.entries()) {
      if (value > this.#value(second) && value < this.#value(worst)) second = i;
    }
    return { worst, second, best };
  }

  #centreWithout(worst: number): Float64Array {
    const centre = new Float64Array(this.#size);
    for (let j = 0; j < this.#size; j++) {
      let sum = 0;
      for (const [i, point] of this.#points.entries()) {
        if (i !== worst) sum += point[j] ?? 0;
      }
      centre[j] = sum / this.#size;
    }
    return centre;
  }

  #replace(index: number, point: Float64Array, value: number): void {
    this.#point(index).set(point);
    this.#values[index] = value;
  }

  #point(index: number): Float64Array {
    return this.#points[index] ?? new Float64Array(this.#size);
  }

  #value(index: number): number {
    return this.#values[index] ?? Infinity;
  }
}

/** The point at `share` of the way from `from` to `to`. */
function along(from: Float64Array, to: Float64Array, share: number): Float64Array {
  return from.map((coordinate, i) => coordinate + share * ((to[i] ?? 0) - coordinate));
}
