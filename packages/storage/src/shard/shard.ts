// A shard: what one retention policy holds for one range of time.
import type { Timestamp } from '@tidemark/core';

import { Table } from '../memtable/table.ts';
import { FieldRegistry } from './field-registry.ts';
import { SeriesSet } from './series-set.ts';

export type ShardDescriptor = {
  readonly id: number;
  readonly policyId: number;
  readonly database: string;
  readonly retentionPolicy: string;
  /** Half-open: [start, end). */
  readonly start: Timestamp;
  readonly end: Timestamp;
};

/** Tables of the memtable by measurement id. */
export type MemtableTables = Map<number, Table>;

export class Shard {
  readonly descriptor: ShardDescriptor;
  readonly fields = new FieldRegistry();
  readonly series = new SeriesSet();
  /** Rows that are not in a segment yet, by measurement; the newest. */
  active: MemtableTables = new Map();

  constructor(descriptor: ShardDescriptor) {
    this.descriptor = descriptor;
  }

  activeTable(measurementId: number): Table {
    let table = this.active.get(measurementId);
    if (table === undefined) {
      table = new Table(measurementId);
      this.active.set(measurementId, table);
    }
    return table;
  }
}
