// Parsed directory pages, least recently used ones dropped beyond a number of bytes. One for all segments of an engine.
import type { SeriesId } from '../series/series-index.ts';
import type { ChunkMeta, PageMeta } from './format.ts';

type Page = ReadonlyMap<SeriesId, readonly ChunkMeta[]>;
type Entry = { readonly page: Page; readonly owner: object; readonly sizeBytes: number };

/** The pages of about 100,000 chunks with ten columns each, or of 60,000 series with one row each. */
const PAGES_BYTES_MAX = 24 << 20;

// What parsed entries take in V8's heap, roughly: objects, their arrays, and a bigint or boxed number per value.
const SERIES_BYTES = 130;
const CHUNK_BYTES = 210;
const COLUMN_BYTES = 72;
const STATISTICS_BYTES = 250;

export class PageCache {
  readonly #bytesMax: number;
  /** Least recently used first. */
  readonly #pages = new Map<PageMeta, Entry>();
  readonly #owners = new Map<object, Set<PageMeta>>();
  #sizeBytes = 0;

  constructor(bytesMax = PAGES_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get(key: PageMeta): Page | undefined {
    const entry = this.#pages.get(key);
    if (entry === undefined) return undefined;
    this.#pages.delete(key);
    this.#pages.set(key, entry);
    return entry.page;
  }

  set(owner: object, key: PageMeta, page: Page): void {
    this.#remove(key);
    const sizeBytes = pageBytes(page);
    this.#pages.set(key, { page, owner, sizeBytes });
    this.#sizeBytes += sizeBytes;
    let keys = this.#owners.get(owner);
    if (keys === undefined) {
      keys = new Set();
      this.#owners.set(owner, keys);
    }
    keys.add(key);
    for (const oldest of this.#pages.keys()) {
      // The newest stays however large it is: its reader is at work on it.
      if (this.#sizeBytes <= this.#bytesMax || oldest === key) break;
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

function pageBytes(page: Page): number {
  let bytes = 0;
  for (const chunks of page.values()) {
    bytes += SERIES_BYTES;
    for (const { columns } of chunks) {
      bytes += CHUNK_BYTES + columns.length * COLUMN_BYTES;
      // Chunks have statistics of all their columns or of none.
      if (columns[0]?.statistics !== undefined) bytes += columns.length * STATISTICS_BYTES;
    }
  }
  return bytes;
}
