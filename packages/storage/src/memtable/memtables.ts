// The owner of the memtables of all shards: of all rows that are in no segment yet. It counts their
// memory, and holds writes back when there is too much (`back-pressure.ts`).
import { assert } from '@tidemark/core';

import type { RowBlock } from '../columns/row-block.ts';
import { BackPressure } from './back-pressure.ts';
import type { Deletion } from './deletion.ts';
import { Table } from './table.ts';
import type { SeriesOrdinals } from './table.ts';

/** Tables by measurement id. */
export type MemtableTables = ReadonlyMap<number, Table>;

type Memtable = {
  /** The newest rows. */
  active: Map<number, Table>;
  /** Rows that are being flushed. */
  frozen: Map<number, Table> | undefined;
  /** Monotonic time at which the oldest active row was written. */
  sinceMs: number;
  /** Monotonic time of the last write, even if its rows are in a segment by now. */
  lastWriteMs: number;
};

export class Memtables {
  /** Ordinary size of the active tables. Twice as much may gather while they are flushed. */
  readonly limitBytes: number;
  readonly #byShard = new Map<number, Memtable>();
  readonly #pressure: BackPressure;
  #bytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
    this.#pressure = new BackPressure(limitBytes, () => this.#bytes);
  }

  /** Memory of the active tables, without those that are being flushed. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Resolves when a write may add rows of about this many bytes. Returns `undefined`, not a
   * promise, while there is room. `leave` has to follow.
   */
  enter(sizeBytes: number): Promise<void> | undefined {
    return this.#pressure.enter(sizeBytes);
  }

  /** Releases the bytes of a write whose rows are here now, or will not come. */
  leave(sizeBytes: number): void {
    this.#pressure.leave(sizeBytes);
  }

  /** How much of the running flush is done, 0 to 1. */
  flushing(done: number): void {
    this.#pressure.flushing(done);
  }

  /** No flush is running any more, whether the last one failed or not. */
  flushEnded(): void {
    this.#pressure.flushEnded();
  }

  /** Appends rows and takes ownership of them. `starts` are `runStarts` of the block. */
  append(
    shardId: number,
    block: RowBlock,
    by: {
      readonly index: SeriesOrdinals;
      readonly starts: Uint32Array;
      readonly nowMs: number;
    },
  ): void {
    const memtable = this.#byShard.get(shardId) ?? this.#add(shardId);
    const { active } = memtable;
    memtable.lastWriteMs = by.nowMs;
    if (active.size === 0) memtable.sinceMs = by.nowMs;
    let table = active.get(block.measurementId);
    const before = table?.memoryBytes ?? 0;
    if (table === undefined) {
      table = new Table(block.measurementId, by.index);
      active.set(block.measurementId, table);
    }
    table.append(block, by.starts);
    this.#bytes += table.memoryBytes - before;
  }

  #add(shardId: number): Memtable {
    const memtable = { active: new Map(), frozen: undefined, sinceMs: 0, lastWriteMs: 0 };
    this.#byShard.set(shardId, memtable);
    return memtable;
  }

  /** Freezes the active tables of all shards and returns those with rows. One flush at a time. */
  freeze(): ReadonlyMap<number, MemtableTables> {
    const frozen = new Map<number, MemtableTables>();
    for (const [shardId, memtable] of this.#byShard) {
      assert(memtable.frozen === undefined, 'one flush at a time');
      if (memtable.active.size === 0) continue;
      memtable.frozen = memtable.active;
      memtable.active = new Map();
      frozen.set(shardId, memtable.frozen);
    }
    this.#bytes = 0;
    return frozen;
  }

  /** The frozen tables of a shard are in a segment now, and are released. */
  flushed(shardId: number): void {
    const memtable = this.#byShard.get(shardId);
    if (memtable !== undefined) memtable.frozen = undefined;
  }

  hasFrozen(shardId: number): boolean {
    return this.#byShard.get(shardId)?.frozen !== undefined;
  }

  /**
   * Does the larger part of a `delete` of the shard ahead of it. Rows may be added, frozen and
   * flushed meanwhile; no other delete may take effect.
   */
  *prepareDelete(shardId: number, deletion: Deletion): Generator<undefined> {
    for (const tables of this.tablesOf(shardId)) {
      for (const measurementId of deletion.measurementIds()) {
        const table = tables.get(measurementId);
        if (table === undefined) continue;
        while (deletion.prepareSome(table)) yield undefined;
        yield undefined;
      }
    }
  }

  /** Removes rows. Flushes and readers that hold the old tables are not affected. */
  delete(shardId: number, deletion: Deletion): void {
    const memtable = this.#byShard.get(shardId);
    if (memtable === undefined) return;
    const { active, frozen } = memtable;
    this.#bytes -= deleteFrom(active, deletion);
    if (frozen === undefined) return;
    memtable.frozen = new Map(frozen);
    deleteFrom(memtable.frozen, deletion);
  }

  /** Forgets the tables of a shard that was dropped. */
  drop(shardId: number): void {
    for (const table of this.#byShard.get(shardId)?.active.values() ?? []) {
      this.#bytes -= table.memoryBytes;
    }
    this.#byShard.delete(shardId);
  }

  /** Files the rows of a shard under the ordinals that its series have in a rebuilt index. */
  reindex(shardId: number, index: SeriesOrdinals): void {
    const memtable = this.#byShard.get(shardId);
    for (const [id, table] of memtable?.active ?? []) {
      const renumbered = table.withOrdinals(index);
      this.#bytes += renumbered.memoryBytes - table.memoryBytes;
      memtable?.active.set(id, renumbered);
    }
  }

  /** The tables of a shard, oldest rows first. */
  tablesOf(shardId: number): readonly MemtableTables[] {
    const memtable = this.#byShard.get(shardId);
    if (memtable === undefined) return [];
    const { active, frozen } = memtable;
    return frozen === undefined ? [active] : [frozen, active];
  }

  /** Whether a series has rows here. */
  hasSeries(shardId: number, measurementId: number, series: number): boolean {
    const memtable = this.#byShard.get(shardId);
    if (memtable === undefined) return false;
    const { active, frozen } = memtable;
    return [active, frozen].some((tables) => tables?.get(measurementId)?.hasSeries(series));
  }

  /** Monotonic time of the shard's last write, 0 when none is known. */
  lastWriteMs(shardId: number): number {
    return this.#byShard.get(shardId)?.lastWriteMs ?? 0;
  }

  /**
   * Age of the oldest and of the newest active row; `undefined` when there are no rows.
   */
  ages(nowMs: number): { readonly oldestMs: number; readonly newestMs: number } | undefined {
    let oldestMs = -1;
    let newestMs = Number.POSITIVE_INFINITY;
    for (const { active, sinceMs, lastWriteMs } of this.#byShard.values()) {
      if (active.size === 0) continue;
      oldestMs = Math.max(oldestMs, nowMs - sinceMs);
      newestMs = Math.min(newestMs, nowMs - lastWriteMs);
    }
    return oldestMs < 0 ? undefined : { oldestMs, newestMs };
  }
}

/** Returns the bytes that it freed. */
function deleteFrom(tables: Map<number, Table>, deletion: Deletion): number {
  let freedBytes = 0;
  for (const measurementId of deletion.measurementIds()) {
    const table = tables.get(measurementId);
    if (table === undefined) continue;
    const kept = deletion.apply(table);
    if (kept === table) continue;
    freedBytes += table.memoryBytes - (kept?.memoryBytes ?? 0);
    if (kept === undefined) tables.delete(measurementId);
    else tables.set(measurementId, kept);
  }
  return freedBytes;
}
