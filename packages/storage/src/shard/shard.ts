// A shard: the data of one retention policy in one range of time.
import type { Damage, ShardDescriptor } from '@tidemark/storage-api';

import type { FieldTypes } from './field-registry.ts';
import type { Segment, SegmentInfo } from '../segment/segment.ts';
import type { ReadonlySeriesSet } from '../series/series-set.ts';
import type { Tombstone } from './tombstone.ts';

export type UnreadableSegment = { readonly info: SegmentInfo; readonly damage: Damage };

/** The part of a shard that is in files. */
export type FilesOfShard = {
  /** In the order of writes, oldest first. Replaced, never changed. */
  readonly segments: readonly Segment[];
  /** Replaced, never changed. */
  readonly tombstones: readonly Tombstone[];
};

/**
 * A shard for everybody but its owner: only `state/shard-store.ts` changes one. It is no snapshot:
 * what it says changes between two turns.
 */
export type Shard = FilesOfShard & {
  readonly descriptor: ShardDescriptor;
  readonly fields: FieldTypes;
  /** Series with rows in this shard. Deletes replace the set, so that snapshots keep theirs. */
  readonly series: ReadonlySeriesSet;
  /**
   * Segments that cannot be opened. They stay in the manifest, for `repair` and for the next start.
   */
  readonly unreadable: readonly UnreadableSegment[];
  /**
   * Position of the frozen rows in the order of writes, while a flush is writing them: tombstones
   * with a larger sequence cover them.
   */
  readonly frozenSequence: number | undefined;
  /** Length of the file of series keys by the manifest; `undefined` while there is no such file. */
  readonly seriesFileBytes: number | undefined;
  /**
   * Whether the log or the manifest has the shard. The next start does not find a shard of rows
   * whose record could not be logged, so nothing may depend on it.
   */
  readonly isLogged: boolean;
  /**
   * Set when a segment cannot be opened. Which rows it holds is unknown, so reads of the shard
   * fail.
   */
  readonly damage: Damage | undefined;
  readonly diskBytes: number;
};
