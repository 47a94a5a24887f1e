// The last N numbers of a sequence, for moving windows. N comes from a query, so its memory counts
// for the query.
import type { PointBatch } from '../transformation.ts';
import { noPoints } from './points.ts';
import type { Calculation } from '../steps.ts';

const FIRST_CAPACITY = 64;

type Numbers<T> = {
  readonly length: number;
  readonly byteLength: number;
  [at: number]: T;
  set(values: ArrayLike<T>): void;
};

type Hold = (bytes: number) => void;

/** Grows up to `size` numbers. `hold` counts its memory and throws when that is too much. */
export class Ring<T extends number | bigint> {
  readonly #size: number;
  readonly #make: (length: number) => Numbers<T>;
  readonly #hold: Hold;
  #values: Numbers<T>;
  #at = 0;
  #isFull = false;

  constructor(size: number, make: (length: number) => Numbers<T>, hold: Hold) {
    this.#size = size;
    this.#make = make;
    this.#hold = hold;
    this.#values = make(0);
  }

  /** Whether `size` numbers are in it. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Adds a number and returns the one that it replaces; 0 while there is room. */
  add(value: T): T {
    if (this.#at === this.#values.length) this.#grow();
    const replaced = this.#values[this.#at] as T;
    this.#values[this.#at] = value;
    this.#at++;
    if (this.#at === this.#size) {
      this.#at = 0;
      this.#isFull = true;
    }
    return replaced;
  }

  /** Frees the memory, for `Transformation.finish`. No points are held back. */
  *finish(): Calculation<PointBatch> {
    this.#hold(-this.#values.byteLength);
    this.#values = this.#make(0);
    yield;
    return noPoints('float');
  }

  #grow(): void {
    const capacity = Math.max(FIRST_CAPACITY, this.#values.length * 2);
    const grown = this.#make(Math.min(this.#size, capacity));
    this.#hold(grown.byteLength - this.#values.byteLength);
    grown.set(this.#values);
    this.#values = grown;
  }
}

/** A ring of floats. */
export function floatRing(size: number, hold: Hold): Ring<number> {
  return new Ring<number>(size, (length) => new Float64Array(length), hold);
}

/** A ring of 64-bit integers. Unsigned ones wrap around: sums of them have to wrap, too. */
export function integerRing(size: number, hold: Hold): Ring<bigint> {
  return new Ring<bigint>(size, (length) => new BigInt64Array(length), hold);
}
