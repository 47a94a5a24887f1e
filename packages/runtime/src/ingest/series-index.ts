// Finds series by the bytes of measurement and tags as clients write them, from one write to the next. Bounded.
import { compareBytes } from '@tidemark/core';
import type { SeriesRef } from '../point-batch.ts';
import { textOf } from './text.ts';

type Entry = {
  readonly hash: number;
  readonly bytes: Uint8Array;
  readonly ref: SeriesRef;
  /** Index in the write that saw it last. */
  index: number;
  write: number;
};

/** Beyond this many spellings the index starts over. */
const ENTRIES_MAX = 200_000;
/** Longer keys are checked by the general parser. */
const KEY_BYTES_MAX = 16_384;

export class SeriesIndex {
  #slots: (Entry | undefined)[] = Array.from({ length: 1024 }, () => undefined);
  #count = 0;
  #write = 0;
  #series: SeriesRef[] = [];
  #lastKeys: readonly string[] = [];

  begin(): void {
    this.#write++;
    this.#series = [];
    if (this.#count > ENTRIES_MAX) {
      this.#slots = Array.from({ length: 1024 }, () => undefined);
      this.#count = 0;
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
      const entry = slots[slot];
      if (entry === undefined) break;
      if (entry.hash === hash && isSame(entry.bytes, body, start, end)) return this.#indexOf(entry);
      slot = (slot + 1) & mask;
    }
    const ref = this.#parse(body, start, end);
    if (ref === undefined) return -1;
    const entry = { hash, bytes: body.slice(start, end), ref, index: -1, write: -1 };
    slots[slot] = entry;
    if (++this.#count * 2 > slots.length) this.#grow();
    return this.#indexOf(entry);
  }

  /** The series of the present write. */
  take(): readonly SeriesRef[] {
    return this.#series;
  }

  #indexOf(entry: Entry): number {
    if (entry.write === this.#write) return entry.index;
    entry.write = this.#write;
    entry.index = this.#series.push(entry.ref) - 1;
    return entry.index;
  }

  #parse(body: Uint8Array, start: number, end: number): SeriesRef | undefined {
    if (end - start > KEY_BYTES_MAX) return undefined;
    const text = textOf(body, start, end);
    if (text === undefined) return undefined;
    const [name = '', ...parts] = text.split(',');
    if (name === '' || name.startsWith('#') || text.includes('\u007f')) return undefined;
    const tags: [string, string][] = [];
    for (const part of parts) {
      const [key = '', value = '', more] = part.split('=');
      if (key === '' || value === '' || more !== undefined) return undefined;
      tags.push([key, value]);
    }
    tags.sort(([a], [b]) => compareBytes(a, b));
    if (tags.some(([key], i) => i > 0 && tags[i - 1]?.[0] === key)) return undefined;
    const tagKeys = this.#sharedKeys(tags.map(([key]) => key));
    return { name, tagKeys, tagValues: tags.map(([, value]) => value) };
  }

  /** Most series have the same tag keys: one array for all of them. */
  #sharedKeys(keys: readonly string[]): readonly string[] {
    const last = this.#lastKeys;
    if (last.length === keys.length && keys.every((key, i) => key === last[i])) return last;
    this.#lastKeys = keys;
    return keys;
  }

  #grow(): void {
    const old = this.#slots;
    const slots: (Entry | undefined)[] = Array.from({ length: old.length * 2 }, () => undefined);
    const mask = slots.length - 1;
    for (const entry of old) {
      if (entry === undefined) continue;
      let slot = entry.hash & mask;
      while (slots[slot] !== undefined) slot = (slot + 1) & mask;
      slots[slot] = entry;
    }
    this.#slots = slots;
  }
}

function isSame(bytes: Uint8Array, body: Uint8Array, start: number, end: number): boolean {
  if (bytes.length !== end - start) return false;
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== body[start + i]) return false;
  return true;
}
