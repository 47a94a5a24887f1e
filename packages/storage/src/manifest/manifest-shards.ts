// The entries of shards in the manifest. A shard that has not changed keeps its entry, as the same
// object, so that a commit finds what it changes without printing everything.
import type { Segment, SegmentInfo } from '../segment/segment.ts';
import type { Shard, UnreadableSegment } from '../shard/shard.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import type { ManifestShard } from './manifest.ts';

/** Lists that are replaced when they change. */
type Files = {
  readonly segments: readonly Segment[];
  readonly tombstones: readonly Tombstone[];
};

type Made = Files & {
  readonly unreadable: readonly UnreadableSegment[];
  readonly entry: ManifestShard;
};

export class ManifestShards {
  readonly #made = new WeakMap<Shard, Made>();

  /** The entry of a shard with these files. */
  of(shard: Shard, { segments, tombstones }: Files): ManifestShard {
    const { descriptor, unreadable, seriesFileBytes } = shard;
    const made = this.#made.get(shard);
    if (
      made !== undefined &&
      made.segments === segments &&
      made.tombstones === tombstones &&
      made.unreadable === unreadable &&
      made.entry.seriesFileBytes === seriesFileBytes
    ) {
      return made.entry;
    }
    const infos = segments.map(({ info }) => info);
    const entry = {
      descriptor,
      segments: withUnreadable(infos, unreadable),
      tombstones,
      seriesFileBytes,
    };
    this.#made.set(shard, { segments, tombstones, unreadable, entry });
    return entry;
  }
}

/** All segments in the order of writes, including those that cannot be opened. */
function withUnreadable(
  segments: readonly SegmentInfo[],
  unreadable: readonly UnreadableSegment[],
): readonly SegmentInfo[] {
  if (unreadable.length === 0) return segments;
  const hidden = unreadable.map(({ info }) => info);
  return [...segments, ...hidden].sort((a, b) => a.sequence - b.sequence);
}
