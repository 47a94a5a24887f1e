// Resolves a script's dimensions for a series.
import type { Dimensions } from '@tidemark/pipeline';
import type { GroupDimensions } from '../data/group.ts';
import type { Series, TagKeys } from '../data/series.ts';

/** Returns the dimensions of a series; `*` depends on its tags. Results are shared objects. */
export class DimensionChooser {
  readonly #fixed:
    | { readonly byName: GroupDimensions; readonly plain: GroupDimensions }
    | undefined;
  readonly #exclude: ReadonlySet<string>;
  readonly #byKeys = new WeakMap<TagKeys, { byName: GroupDimensions; plain: GroupDimensions }>();

  constructor(dimensions: Dimensions, exclude: readonly string[] = []) {
    this.#exclude = new Set(exclude);
    if (!dimensions.isAll) {
      this.#fixed = pair([...dimensions.tags].sort());
    }
  }

  of(series: Series, isByName: boolean): GroupDimensions {
    let both = this.#fixed ?? this.#byKeys.get(series.keys);
    if (both === undefined) {
      both = pair(series.keys.names.filter((name) => !this.#exclude.has(name)));
      this.#byKeys.set(series.keys, both);
    }
    return isByName ? both.byName : both.plain;
  }
}

function pair(names: readonly string[]): { byName: GroupDimensions; plain: GroupDimensions } {
  const tagNames = [...new Set(names)];
  // A tag named twice appears twice in group ids, as recorded.
  const more = tagNames.length === names.length ? {} : { idNames: names };
  return {
    byName: { isByName: true, tagNames, ...more },
    plain: { isByName: false, tagNames, ...more },
  };
}

/** Caches of this size are not worth scanning for a single group. */
const SMALL_CACHE = 64;
/** Series of one page: those that were added together mostly leave together. */
const PAGE_BITS = 6;
const PAGE_SERIES = 1 << PAGE_BITS;

type Page<G> = (G | undefined)[];

const EMPTY_PAGE: readonly undefined[] = Array.from({ length: PAGE_SERIES }, () => undefined);

/**
 * Groups by series id, while the series table keeps its epoch, which is identified by the id of its
 * first series. Ids only increase, and with changing series an array in each node of hundreds of
 * tasks would grow with them; pages without groups are dropped. Series of an earlier epoch are not
 * cached.
 */
export class GroupCache<G extends { readonly isReleased: boolean }> {
  #firstId = -1;
  #pages: (Page<G> | undefined)[] = [];
  #heldCount = 0;
  #goneCount = 0;

  /** Number of series whose group is cached. */
  get heldCount(): number {
    return this.#heldCount;
  }

  /** Number of their pages. */
  get pageCount(): number {
    return this.#pages.filter((page) => page !== undefined).length;
  }

  /**
   * A group is about to be released. From time to time released groups are removed, at a cost of
   * O(1) for each.
   */
  noteGone(): void {
    this.#goneCount++;
    if (this.#goneCount * 4 < this.#heldCount + SMALL_CACHE) return;
    this.#goneCount = 0;
    for (const [i, page] of this.#pages.entries()) {
      if (page !== undefined && this.#clean(page) === 0) this.#pages[i] = undefined;
    }
  }

  get(firstId: number, seriesId: number): G | undefined {
    if (firstId !== this.#firstId || seriesId < firstId) return undefined;
    const place = seriesId - firstId;
    const group = this.#pages[place >> PAGE_BITS]?.[place & (PAGE_SERIES - 1)];
    return group === undefined || group.isReleased ? undefined : group;
  }

  set(firstId: number, seriesId: number, group: G): void {
    if (seriesId < firstId) return;
    if (firstId !== this.#firstId) {
      this.#firstId = firstId;
      this.#pages = [];
      this.#heldCount = 0;
    }
    const place = seriesId - firstId;
    const page = this.#page(place >> PAGE_BITS);
    const at = place & (PAGE_SERIES - 1);
    if (page[at] === undefined) this.#heldCount++;
    page[at] = group;
  }

  #page(index: number): Page<G> {
    // Without holes: a sparse array is a table, several times slower to read.
    while (this.#pages.length <= index) this.#pages.push(undefined);
    let page = this.#pages[index];
    if (page === undefined) {
      // Copying is many times faster than filling an array element by element.
      page = EMPTY_PAGE.slice();
      this.#pages[index] = page;
    }
    return page;
  }

  /** Returns how many groups of a page are left. */
  #clean(page: Page<G>): number {
    let leftCount = 0;
    for (let i = 0; i < PAGE_SERIES; i++) {
      const group = page[i];
      if (group === undefined) continue;
      if (!group.isReleased) {
        leftCount++;
        continue;
      }
      page[i] = undefined;
      this.#heldCount--;
    }
    return leftCount;
  }
}
