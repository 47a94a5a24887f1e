// A shard: what one retention policy holds for one range of time.
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
  /** Series with data here. Replaced when series leave, so that snapshots keep theirs. */
  series = new SeriesSet();
  /** Oldest writes first. Replaced, never changed. */
  segments: readonly Segment[] = [];
  /** Replaced, never changed. */
  tombstones: readonly Tombstone[] = [];
  /**
   * Segments that can not be opened. They stay part of the state, for `repair` and for another
   * look.
   */
  unreadable: readonly UnreadableSegment[] = [];
  /** Bytes of the file of its series' keys; `undefined` when it has none yet. */
  seriesFileBytes: number | undefined;

  constructor(descriptor: ShardDescriptor, fields: FieldRegistry) {
    this.descriptor = descriptor;
    this.fields = fields;
  }

  /**
   * Set when a segment can not be opened: what rows it holds is unknown, so reading the shard
   * fails.
   */
  get damage(): Damage | undefined {
    return this.unreadable[0]?.damage;
  }

  get diskBytes(): number {
    return this.segments.reduce((sum, segment) => sum + segment.info.sizeBytes, 0);
  }
}
