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

/** Groups by series id: the answer is an array element while the series table keeps its epoch. */
export class GroupCache<G extends { readonly isReleased: boolean }> {
  #epoch = -1;
  #groups: (G | undefined)[] = [];

  get(epoch: number, seriesId: number): G | undefined {
    if (epoch !== this.#epoch) return undefined;
    const group = this.#groups[seriesId];
    return group === undefined || group.isReleased ? undefined : group;
  }

  set(epoch: number, seriesId: number, group: G): void {
    if (epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#groups = [];
    }
    while (this.#groups.length <= seriesId) this.#groups.push(undefined);
    this.#groups[seriesId] = group;
  }
}
