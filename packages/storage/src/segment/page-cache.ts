// Parsed directory pages, least recently used ones dropped beyond a number. One for all segments of an engine.
import type { SeriesId } from '../series/series-index.ts';
import type { ChunkMeta, PageMeta } from './format.ts';

type Page = ReadonlyMap<SeriesId, readonly ChunkMeta[]>;

/** A page of 16 KiB takes roughly ten times that when parsed: 256 of them are about 40 MiB at the very most. */
const MAX_PAGES = 256;

export class PageCache {
  readonly #pages = new Map<PageMeta, Page>();
  readonly #owners = new Map<object, Set<PageMeta>>();

  get(_owner: object, key: PageMeta): Page | undefined {
    const page = this.#pages.get(key);
    if (page !== undefined) {
      this.#pages.delete(key);
      this.#pages.set(key, page);
    }
    return page;
  }

  set(owner: object, key: PageMeta, page: Page): void {
    this.#pages.set(key, page);
    let keys = this.#owners.get(owner);
    if (keys === undefined) {
      keys = new Set();
      this.#owners.set(owner, keys);
    }
    keys.add(key);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) break;
      this.#pages.delete(oldest);
    }
  }

  forget(owner: object): void {
    for (const key of this.#owners.get(owner) ?? []) this.#pages.delete(key);
    this.#owners.delete(owner);
  }
}
