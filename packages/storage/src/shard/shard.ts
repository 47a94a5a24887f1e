// A shard: what one retention policy holds for one range of time.
import { assert } from '@tidemark/core';

import type { ShardDescriptor } from '../storage-engine.ts';
import type { Damage } from '../damage.ts';
import { Table } from '../memtable/table.ts';
import type { SeriesOrdinals } from '../memtable/table.ts';
import { FieldRegistry } from './field-registry.ts';
import type { Segment, SegmentInfo } from '../segment/segment.ts';
import { SeriesSet } from '../series/series-set.ts';
import type { Tombstone } from './tombstone.ts';

/** Tables of the memtable by measurement id. */
export type MemtableTables = Map<number, Table>;

export type UnreadableSegment = { readonly info: SegmentInfo; readonly damage: Damage };

export class Shard {
  readonly descriptor: ShardDescriptor;
  readonly fields: FieldRegistry;
  /** Series with data here. Replaced when series leave, so that snapshots keep theirs. */
  series = new SeriesSet();
  /** Rows that are not in a segment yet, by measurement; the newest. */
  active: MemtableTables = new Map();
  /** Rows that are being flushed. */
  frozen: MemtableTables | undefined;
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
  /** Monotonic time of the last applied write, for compaction of shards that have come to rest. */
  lastWriteMs = 0;

  constructor(descriptor: ShardDescriptor) {
    this.descriptor = descriptor;
    this.fields = new FieldRegistry(descriptor.database);
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

  /** Monotonic time at which the oldest row of the memtable arrived. */
  activeSinceMs = 0;

  /** Ends the active memtable and returns its tables. */
  freeze(): MemtableTables {
    assert(this.frozen === undefined, 'one flush at a time');
    const tables = this.active;
    this.frozen = tables;
    this.active = new Map();
    return tables;
  }

  activeTable(measurementId: number, index: SeriesOrdinals): Table {
    let table = this.active.get(measurementId);
    if (table === undefined) {
      table = new Table(measurementId, index);
      this.active.set(measurementId, table);
    }
    return table;
  }
}
