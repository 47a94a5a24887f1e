// A snapshot for one reader: per shard its segments, its tombstones and the visible rows of its
// memtable.
import type { MemtableTables } from '../memtable/memtables.ts';
import type { TableView } from '../memtable/table-rows.ts';
import type { Segment } from '../segment/segment.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import type { ReadonlySeriesSet } from '../series/series-set.ts';
import type { Shard } from '../shard/shard.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import type { StoppedDatabases } from './stopped-databases.ts';

export type ShardView = {
  readonly shard: Shard;
  readonly series: ReadonlySeriesSet;
  readonly segments: readonly Segment[];
  readonly tombstones: readonly Tombstone[];
  /** By id of the measurement, oldest rows first. All of them are newer than the segments. */
  readonly tables: ReadonlyMap<number, readonly TableView[]>;
};

/**
 * A database with the index at the time of the snapshot: in a rebuilt index, series have other
 * ordinals.
 */
export type DatabaseView = {
  readonly instance: number;
  /** May be read from its files with the first access. */
  readonly index: SeriesIndex;
  /** Some live series may belong to a dropped policy only, whose shards are not in the snapshot. */
  readonly hidesSeries: boolean;
};

export type Snapshot = {
  readonly shards: readonly ShardView[];
  /** By name. */
  readonly databases: ReadonlyMap<string, DatabaseView>;
  /** Databases that are not served because of damage. */
  readonly stopped: StoppedDatabases;
  /**
   * Whether answers leave damaged data out and say so (setting `storage.serve-damaged`). If not,
   * requests that need it fail.
   */
  readonly servesDamaged: boolean;
  /** Keeps the files (`Reclaimer`). */
  readonly lease: number;
  /** Ends the read, so that replaced files can be removed. Idempotent. */
  readonly release: () => void;
};

/** The present state of a shard. `memtable` has its tables, oldest rows first. */
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
