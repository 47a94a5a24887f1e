// Directory pages, least recently used ones dropped beyond a number of bytes. One for all segments
// of an engine.
import type { DirectoryPage } from './directory-page.ts';
import type { PageMeta } from './format.ts';
import type { SharedPage } from './shared-page.ts';

type Page = Pick<DirectoryPage, 'sizeBytes'>;
type Entry<P> = { readonly page: P; readonly owner: object; sizeBytes: number };

/**
 * The pages of a million series with one row each, or of 60,000 chunks with ten columns, decoded.
 */
const PAGES_BYTES_MAX = 24 << 20;

export class PageCache<P extends Page = DirectoryPage | SharedPage> {
  readonly #bytesMax: number;
  /** Least recently used first. */
  readonly #pages = new Map<PageMeta, Entry<P>>();
  readonly #owners = new Map<object, Set<PageMeta>>();
  #sizeBytes = 0;

  constructor(bytesMax = PAGES_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get(key: PageMeta): P | undefined {
    const entry = this.#pages.get(key);
    if (entry === undefined) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, entry);
    return entry.page;
  }

  set(owner: object, key: PageMeta, page: P): void {
    this.#remove(key);
    const { sizeBytes } = page;
    this.#pages.set(key, { page, owner, sizeBytes });
    this.#sizeBytes += sizeBytes;
    let keys = this.#owners.get(owner);
    if (keys === undefined) {
      keys = new Set();
      this.#owners.set(owner, keys);
    }
    keys.add(key);
    this.#makeRoom(key);
  }

  /** Looks again how large a page is, after it was read. */
  resized(key: PageMeta): void {
    const entry = this.#pages.get(key);
    if (entry === undefined || entry.sizeBytes === entry.page.sizeBytes) return;
    this.#sizeBytes += entry.page.sizeBytes - entry.sizeBytes;
    entry.sizeBytes = entry.page.sizeBytes;
    this.#makeRoom(key);
  }

  #makeRoom(newest: PageMeta): void {
    for (const oldest of this.#pages.keys()) {
      // The newest stays however large it is: its reader is at work on it.
      if (this.#sizeBytes <= this.#bytesMax || oldest === newest) break;
      this.#remove(oldest);
    }
  }

  forget(owner: object): void {
    for (const key of this.#owners.get(owner) ?? []) this.#remove(key);
  }

  #remove(key: PageMeta): void {
    const entry = this.#pages.get(key);
    if (entry === undefined) return;
    this.#pages.delete(key);
    this.#sizeBytes -= entry.sizeBytes;
    const keys = this.#owners.get(entry.owner);
    keys?.delete(key);
    if (keys?.size === 0) this.#owners.delete(entry.owner);
  }
}
