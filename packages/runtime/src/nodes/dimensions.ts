// From a script's dimensions to those of a series.
import type { Dimensions } from '@tidemark/pipeline';
import type { GroupDimensions } from '../data/group.ts';
import type { Series, TagKeys } from '../data/series.ts';

/** Gives the dimensions of a series; `*` depends on its tags. Results are shared objects. */
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

/** A cache of so many series is not worth walking through for a single group. */
const SMALL_CACHE = 64;

/**
 * Groups by series id, while the series table keeps its epoch. A map, though an array would be found in faster: ids only
 * rise, and with series that come and go an array in each node of hundreds of tasks would rise with them.
 */
export class GroupCache<G extends { readonly isReleased: boolean }> {
  #epoch = -1;
  #groups = new Map<number, G>();
  #goneCount = 0;

  /** Series whose group is remembered. */
  get heldCount(): number {
    return this.#groups.size;
  }

  /** A group is about to go. From time to time those that are gone are let go of, at a cost of O(1) for each. */
  noteGone(): void {
    this.#goneCount++;
    if (this.#goneCount * 4 < this.#groups.size + SMALL_CACHE) return;
    this.#goneCount = 0;
    for (const [id, group] of this.#groups) if (group.isReleased) this.#groups.delete(id);
  }

  get(epoch: number, seriesId: number): G | undefined {
    if (epoch !== this.#epoch) return undefined;
    const group = this.#groups.get(seriesId);
    return group === undefined || group.isReleased ? undefined : group;
  }

  set(epoch: number, seriesId: number, group: G): void {
    if (epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#groups = new Map();
    }
    this.#groups.set(seriesId, group);
  }
}
