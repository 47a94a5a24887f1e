// A cache of directory pages, bounded in bytes, least recently used ones evicted. All segments of
// an engine share it.
import { ByteLru } from '@tidemark/core';

import type { DirectoryPage } from './directory-page.ts';
import type { PageMeta } from './format.ts';
import type { SharedPage } from './shared-page.ts';

type Page = Pick<DirectoryPage, 'sizeBytes'>;
type Entry<P> = { readonly page: P; readonly owner: object };

/**
 * The pages of a million series with one row each, or of 60,000 chunks with ten columns, decoded.
 */
const PAGES_BYTES_MAX = 24 << 20;

export class PageCache<P extends Page = DirectoryPage | SharedPage> {
  readonly #pages: ByteLru<PageMeta, Entry<P>>;
  readonly #owners = new Map<object, Set<PageMeta>>();

  constructor(bytesMax = PAGES_BYTES_MAX) {
    this.#pages = new ByteLru(bytesMax, (key, { owner }) => this.#disown(owner, key));
  }

  get sizeBytes(): number {
    return this.#pages.weight;
  }

  get(key: PageMeta): P | undefined {
    return this.#pages.get(key)?.page;
  }

  set(owner: object, key: PageMeta, page: P): void {
    this.#pages.set(key, { page, owner }, page.sizeBytes);
    let keys = this.#owners.get(owner);
    if (keys === undefined) {
      keys = new Set();
      this.#owners.set(owner, keys);
    }
    keys.add(key);
  }

  /** Updates the size of a page: reading it may have kept decoded entries. */
  resized(key: PageMeta): void {
    const entry = this.#pages.peek(key);
    if (entry !== undefined) this.#pages.reweigh(key, entry.page.sizeBytes);
  }

  forget(owner: object): void {
    for (const key of this.#owners.get(owner) ?? []) this.#pages.delete(key);
  }

  #disown(owner: object, key: PageMeta): void {
    const keys = this.#owners.get(owner);
    keys?.delete(key);
    if (keys?.size === 0) this.#owners.delete(owner);
  }
}
