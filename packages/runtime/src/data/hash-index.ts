// An open-addressing table from hashes to dense indexes, in two typed arrays: small for few
// entries, without an object for each of many.
import { assert } from '@tidemark/core';

/** The arrays of so few are part of their objects. */
const FIRST_CAPACITY = 16;
const EMPTY = -1;

/** Hashes need not be unique: who adds an entry knows which of those with its hash is meant. */
export class HashIndex {
  /** Index of an entry, or `EMPTY`, by position. */
  #indexes = new Int32Array(FIRST_CAPACITY).fill(EMPTY);
  #hashes = new Int32Array(FIRST_CAPACITY);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * Position of the first entry with a hash, at or after `from`; -1 when there is none. Continue
   * with `from = position + 1`.
   */
  find(hash: number, from = this.#home(hash)): number {
    const mask = this.#indexes.length - 1;
    for (let place = from & mask; this.#indexes[place] !== EMPTY; place = (place + 1) & mask) {
      if (this.#hashes[place] === hash) return place;
    }
    return -1;
  }

  /** Index of the entry at a position returned by `find`. */
  at(place: number): number {
    return this.#indexes[place] as number;
  }

  /** Adds an entry that is not there yet. */
  add(hash: number, index: number): void {
    if (this.#count * 4 >= this.#indexes.length * 3) this.#grow();
    this.#put(hash, index);
    this.#count++;
  }

  /** Removes an existing entry. */
  delete(hash: number, index: number): void {
    let place = this.find(hash);
    while (place >= 0 && this.#indexes[place] !== index) place = this.find(hash, place + 1);
    assert(place >= 0, 'an entry that is removed is in the table');
    this.#count--;
    this.#close(place);
  }

  /**
   * Moves up entries that were placed after an occupied position, so that searches need not pass
   * gaps.
   */
  #close(gap: number): void {
    const mask = this.#indexes.length - 1;
    let hole = gap;
    for (
      let place = (hole + 1) & mask;
      this.#indexes[place] !== EMPTY;
      place = (place + 1) & mask
    ) {
      const home = this.#home(this.#hashes[place] as number);
      // It may move there unless that is before its home.
      if (((place - home) & mask) < ((place - hole) & mask)) continue;
      this.#indexes[hole] = this.#indexes[place] as number;
      this.#hashes[hole] = this.#hashes[place] as number;
      hole = place;
    }
    this.#indexes[hole] = EMPTY;
  }

  #home(hash: number): number {
    return hash & (this.#indexes.length - 1);
  }

  #put(hash: number, index: number): void {
    const mask = this.#indexes.length - 1;
    let place = hash & mask;
    while (this.#indexes[place] !== EMPTY) place = (place + 1) & mask;
    this.#indexes[place] = index;
    this.#hashes[place] = hash;
  }

  #grow(): void {
    const indexes = this.#indexes;
    const hashes = this.#hashes;
    this.#indexes = new Int32Array(indexes.length * 2).fill(EMPTY);
    this.#hashes = new Int32Array(indexes.length * 2);
    for (let place = 0; place < indexes.length; place++) {
      const index = indexes[place] as number;
      if (index !== EMPTY) this.#put(hashes[place] as number, index);
    }
  }
}
