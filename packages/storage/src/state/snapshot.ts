// What one reader sees: per shard the segments, the tombstones and the visible rows of the
// memtable.
import type { Table } from '../memtable/table.ts';
import type { Segment } from '../segment/segment.ts';
import type { SeriesSet } from '../series/series-set.ts';
import type { MemtableTables, Shard } from '../shard/shard.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { Engine } from '../engine/engine.ts';
import type { StoppedDatabases } from './stopped-databases.ts';

/** The visible rows of a table. */
export type TableView = { readonly table: Table; readonly rows: number };

export type ShardView = {
  readonly shard: Shard;
  readonly series: SeriesSet;
  readonly segments: readonly Segment[];
  readonly tombstones: readonly Tombstone[];
  /** By measurement id, oldest first; newer than all segments. */
  readonly tables: ReadonlyMap<number, readonly TableView[]>;
};

/** A database with the index that it had: a renewed one gives series other places. */
export type DatabaseView = { readonly instance: number; readonly index: SeriesIndex };

export type Snapshot = {
  readonly shards: readonly ShardView[];
  /** By name. */
  readonly databases: ReadonlyMap<string, DatabaseView>;
  /** Databases of which something is lost. */
  readonly stopped: StoppedDatabases;
  /**
   * What is damaged is left out of answers that say so (`storage.serve-damaged`); without it
   * requests fail.
   */
  readonly servesDamaged: boolean;
  /** Allows the files that were replaced since to be removed. Idempotent. */
  readonly release: () => void;
};

export function takeSnapshot(engine: Engine): Snapshot {
  const shards: ShardView[] = [];
  for (const shard of engine.shards.all()) shards.push(viewOf(shard));
  const databases = new Map<string, DatabaseView>();
  for (const { name, instance, index } of engine.databases.values()) {
    databases.set(name, { instance, index });
  }
  const release = engine.reclaimer.enter();
  const { servesDamaged } = engine;
  return { shards, databases, stopped: engine.stopped, servesDamaged, release };
}

export function viewOf(shard: Shard): ShardView {
  const tables = new Map<number, TableView[]>();
  if (shard.frozen !== undefined) addTables(tables, shard.frozen);
  addTables(tables, shard.active);
  const { series, segments, tombstones } = shard;
  return { shard, series, segments, tombstones, tables };
}

function addTables(views: Map<number, TableView[]>, tables: MemtableTables): void {
  for (const [id, table] of tables) {
    const view = { table, rows: table.rows };
    const held = views.get(id);
    if (held === undefined) views.set(id, [view]);
    else held.push(view);
  }
}
