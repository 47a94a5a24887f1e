// What one reader sees: per shard the segments, the tombstones and the visible rows of the
// memtable.
import type { MemtableTables } from '../memtable/memtables.ts';
import type { Table } from '../memtable/table.ts';
import type { Segment } from '../segment/segment.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { SeriesSet } from '../series/series-set.ts';
import type { Shard } from '../shard/shard.ts';
import type { Tombstone } from '../shard/tombstone.ts';
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

/** A database with the index that it had: a rebuilt one gives series other ordinals. */
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

/** The shard as it is now. `memtable`: its tables, oldest rows first. */
export function viewOf(shard: Shard, memtable: readonly MemtableTables[]): ShardView {
  const tables = new Map<number, TableView[]>();
  for (const one of memtable) addTables(tables, one);
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
