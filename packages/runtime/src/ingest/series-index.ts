// Finds series by the bytes of measurement and tags as clients write them, from one write to the next. Bounded.
import { compareBytes } from '@tidemark/core';
import type { SeriesRef } from '../point-batch.ts';
import { textOf } from './text.ts';

/** Beyond this many spellings the index starts over. */
const ENTRIES_MAX = 200_000;
/** Longer keys are checked by the general parser. */
const KEY_BYTES_MAX = 16_384;

const FIRST_CAPACITY = 1024;
/** Bytes to begin with for the spellings of one entry. */
const BYTES_PER_ENTRY = 48;

/** One numbering for all indexes of the thread. */
let nextStableId = 1;

/**
 * An open hash table over columns: 50,000 series as objects of their own would keep the garbage collector busier than
 * the parser.
 */
export class SeriesIndex {
  /** Entry plus one by slot; 0 is empty. */
  #slots = new Int32Array(FIRST_CAPACITY * 2);
  #hashes = new Uint32Array(FIRST_CAPACITY);
  #starts = new Uint32Array(FIRST_CAPACITY + 1);
  /** Write that saw the entry last, and its index there. */
  #writes = new Uint32Array(FIRST_CAPACITY);
  #indexes = new Uint32Array(FIRST_CAPACITY);
  #bytes = new Uint8Array(FIRST_CAPACITY * BYTES_PER_ENTRY);
  #refs: SeriesRef[] = [];
  #write = 0;
  #series: SeriesRef[] = [];
  #lastKeys: readonly string[] = [];

  begin(): void {
    this.#write++;
    this.#series = [];
    if (this.#refs.length > ENTRIES_MAX) {
      this.#slots.fill(0);
      this.#refs = [];
    }
  }

  /** Index of the series within the present write; -1 when its spelling is not plain. */
  find(body: Uint8Array, start: number, end: number): number {
    let hash = 0x811c9dc5;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ (body[i] as number), 0x01000193);
    hash = (hash ^ (hash >>> 15)) >>> 0;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const entry = (slots[slot] as number) - 1;
      if (entry < 0) break;
      if (this.#hashes[entry] === hash && this.#isSame(entry, body, start, end)) {
        return this.#indexOf(entry);
      }
      slot = (slot + 1) & mask;
    }
    const ref = this.#parse(body, start, end);
    if (ref === undefined) return -1;
    const entry = this.#refs.push(ref) - 1;
    if (entry === this.#hashes.length) this.#growEntries();
    this.#hashes[entry] = hash;
    this.#writes[entry] = 0;
    this.#storeBytes(entry, body, start, end);
    slots[slot] = entry + 1;
    if (this.#refs.length * 2 > slots.length) this.#growSlots();
    return this.#indexOf(entry);
  }

  /** The series of the present write. */
  take(): readonly SeriesRef[] {
    return this.#series;
  }

  #indexOf(entry: number): number {
    if (this.#writes[entry] === this.#write) return this.#indexes[entry] as number;
    this.#writes[entry] = this.#write;
    const index = this.#series.push(this.#refs[entry] as SeriesRef) - 1;
    this.#indexes[entry] = index;
    return index;
  }

  #isSame(entry: number, body: Uint8Array, start: number, end: number): boolean {
    const from = this.#starts[entry] as number;
    const length = (this.#starts[entry + 1] as number) - from;
    if (length !== end - start) return false;
    const bytes = this.#bytes;
    for (let i = 0; i < length; i++) if (bytes[from + i] !== body[start + i]) return false;
    return true;
  }

  #storeBytes(entry: number, body: Uint8Array, start: number, end: number): void {
    const from = this.#starts[entry] as number;
    const stop = from + end - start;
    if (stop > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(stop, this.#bytes.length * 2));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(body.subarray(start, end), from);
    this.#starts[entry + 1] = stop;
  }

  #parse(body: Uint8Array, start: number, end: number): SeriesRef | undefined {
    if (end - start > KEY_BYTES_MAX) return undefined;
    const text = textOf(body, start, end);
    if (text === undefined || text.startsWith('#') || text.includes('\u007f')) return undefined;
    const comma = text.indexOf(',');
    const name = comma < 0 ? text : text.slice(0, comma);
    if (name === '') return undefined;
    let keys: string[] = [];
    let values: string[] = [];
    let isSorted = true;
    for (let at = comma < 0 ? text.length + 1 : comma + 1; at <= text.length;) {
      const next = text.indexOf(',', at);
      const stop = next < 0 ? text.length : next;
      const equals = text.indexOf('=', at);
      if (equals <= at || equals >= stop - 1) return undefined;
      const key = text.slice(at, equals);
      const value = text.slice(equals + 1, stop);
      if (value.includes('=')) return undefined;
      const previous = keys.at(-1);
      if (previous !== undefined) {
        const order = compareBytes(previous, key);
        if (order === 0) return undefined;
        if (order > 0) isSorted = false;
      }
      keys.push(key);
      values.push(value);
      at = stop + 1;
    }
    if (!isSorted) {
      const tags = keys.map((key, i) => [key, values[i] ?? ''] as const);
      tags.sort(([x], [y]) => compareBytes(x, y));
      keys = tags.map(([key]) => key);
      values = tags.map(([, value]) => value);
      if (keys.some((key, i) => key === keys[i - 1])) return undefined;
    }
    return {
      name,
      tagKeys: this.#sharedKeys(keys),
      tagValues: values,
      stableId: nextStableId++,
    };
  }

  /** Most series have the same tag keys: one array for all of them. */
  #sharedKeys(keys: readonly string[]): readonly string[] {
    const last = this.#lastKeys;
    if (last.length === keys.length && keys.every((key, i) => key === last[i])) return last;
    this.#lastKeys = keys;
    return keys;
  }

  #growEntries(): void {
    const capacity = this.#hashes.length * 2;
    const grown = (column: Uint32Array, length: number): Uint32Array<ArrayBuffer> => {
      const larger = new Uint32Array(length);
      larger.set(column);
      return larger;
    };
    this.#hashes = grown(this.#hashes, capacity);
    this.#starts = grown(this.#starts, capacity + 1);
    this.#writes = grown(this.#writes, capacity);
    this.#indexes = grown(this.#indexes, capacity);
  }

  #growSlots(): void {
    const slots = new Int32Array(this.#slots.length * 2);
    const mask = slots.length - 1;
    for (let entry = 0; entry < this.#refs.length; entry++) {
      let slot = (this.#hashes[entry] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = entry + 1;
    }
    this.#slots = slots;
  }
}
