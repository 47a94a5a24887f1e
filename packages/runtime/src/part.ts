// Decides which series belong to a part of a split task. The result must be the same everywhere and
// in every version, because states are stored by part (docs/adr/0025-split-tasks.md).
import { assert } from '@tidemark/core';
import type { TagSelection } from '@tidemark/pipeline';
import type { Series } from './data/series.ts';

export type TaskPart = {
  /** From 0 on. */
  readonly index: number;
  readonly count: number;
  /** Tags whose values determine the part of a series. */
  readonly by: TagSelection;
};

/** Names a unit: a task, or a part of one. No id of a task contains `#`. */
export function unitName(
  taskId: string,
  part: Pick<TaskPart, 'index' | 'count'> | undefined,
): string {
  return part === undefined ? taskId : `${taskId}#${part.index + 1}/${part.count}`;
}

/** The task that a unit belongs to. */
export function taskOfUnit(unit: string): string {
  const end = unit.indexOf('#');
  return end < 0 ? unit : unit.slice(0, end);
}

/** The part, among `count`, that a series belongs to. */
export function partOf(
  series: Pick<Series, 'tagKeys' | 'tagOnce'>,
  { by, count }: Omit<TaskPart, 'index'>,
): number {
  const named = new Set(by.tags);
  const tags = series.tagKeys
    .filter((key) => named.has(key) !== by.isAllBut)
    .map((key) => [key, series.tagOnce(key) ?? ''] as const)
    .filter(([, value]) => value !== '')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  let hash = FNV_OFFSET;
  for (const [key, value] of tags) hash = hashBytes(hashBytes(hash, key), value);
  return mixed(hash) % count;
}

const UNKNOWN = 0;
const OWN = 1;
const OTHER = 2;

const FIRST_SIZE = 1024;

/** Selects the series of a part; caches the result while the table of series keeps its epoch. */
export class PartFilter {
  readonly #part: TaskPart;
  readonly #table: { readonly firstId: number };
  #firstId = -1;
  #known = new Uint8Array(FIRST_SIZE);

  constructor(part: TaskPart, table: { readonly firstId: number }) {
    assert(part.index < part.count, 'a part is one of them');
    this.#part = part;
    this.#table = table;
  }

  has(series: Series): boolean {
    const { firstId } = this.#table;
    if (firstId !== this.#firstId) {
      this.#firstId = firstId;
      this.#known = new Uint8Array(FIRST_SIZE);
    }
    const place = series.id - firstId;
    // From an earlier epoch: a write that began before this one.
    if (place < 0) return this.#isOwn(series);
    if (place >= this.#known.length) this.#grow(place);
    let known = this.#known[place];
    if (known === UNKNOWN) {
      known = this.#isOwn(series) ? OWN : OTHER;
      this.#known[place] = known;
    }
    return known === OWN;
  }

  #isOwn(series: Series): boolean {
    return partOf(series, this.#part) === this.#part.index;
  }

  #grow(place: number): void {
    const larger = new Uint8Array(2 * (place + 1));
    larger.set(this.#known);
    this.#known = larger;
  }
}

// FNV-1a over the UTF-8 of keys and values, each with a zero after it; then the last step of
// MurmurHash3, because the low bits of FNV alone are uneven.
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const encoder = new TextEncoder();

function hashBytes(hash: number, text: string): number {
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return Math.imul(hash, FNV_PRIME);
}

function mixed(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
