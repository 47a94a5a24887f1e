// A shard: the data of one retention policy in one range of time.
import type { ShardDescriptor } from '../storage-engine.ts';
import type { Damage } from '../damage.ts';
import type { FieldRegistry } from './field-registry.ts';
import type { Segment, SegmentInfo } from '../segment/segment.ts';
import { SeriesSet } from '../series/series-set.ts';
import type { Tombstone } from './tombstone.ts';

export type UnreadableSegment = { readonly info: SegmentInfo; readonly damage: Damage };

export class Shard {
  readonly descriptor: ShardDescriptor;
  readonly fields: FieldRegistry;
  /** Series with rows in this shard. Deletes replace the set, so that snapshots keep theirs. */
  series = new SeriesSet();
  /** In the order of writes, oldest first. Replaced, never changed. */
  segments: readonly Segment[] = [];
  /** Replaced, never changed. */
  tombstones: readonly Tombstone[] = [];
  /**
   * Segments that cannot be opened. They stay in the manifest, for `repair` and for the next start.
   */
  unreadable: readonly UnreadableSegment[] = [];
  /**
   * Position of the frozen rows in the order of writes, while a flush is writing them: tombstones
   * with a larger sequence cover them.
   */
  frozenSequence: number | undefined;
  /** Length of the file of series keys by the manifest; `undefined` while there is no such file. */
  seriesFileBytes: number | undefined;

  /**
   * Whether the log or the manifest has the shard. The next start does not find a shard of rows
   * whose record could not be logged, so nothing may depend on it.
   */
  isLogged = false;

  constructor(descriptor: ShardDescriptor, fields: FieldRegistry) {
    // Copied property by property: objects that were read from a file have other shapes, and V8
    // would compile every reader for both.
    const { id, policyId, database, retentionPolicy, start, end } = descriptor;
    this.descriptor = { id, policyId, database, retentionPolicy, start, end };
    this.fields = fields;
  }

  /**
   * Set when a segment cannot be opened. Which rows it holds is unknown, so reads of the shard
   * fail.
   */
  get damage(): Damage | undefined {
    return this.unreadable[0]?.damage;
  }

  get diskBytes(): number {
    return this.segments.reduce((sum, segment) => sum + segment.info.sizeBytes, 0);
  }
}
