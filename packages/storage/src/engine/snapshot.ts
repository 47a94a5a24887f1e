// What one reader sees: per shard the tables of the memtable with the number of rows that were visible.
import type { Table } from '../memtable/table.ts';
import type { Shard } from '../shard/shard.ts';
import type { Database } from './database.ts';
import type { Engine } from './engine.ts';

/** The visible rows of a table. */
export type TableView = { readonly table: Table; readonly rows: number };

export type ShardView = {
  readonly shard: Shard;
  /** By measurement id, oldest first. */
  readonly tables: ReadonlyMap<number, readonly TableView[]>;
};

export type Snapshot = {
  readonly shards: readonly ShardView[];
  readonly databases: ReadonlyMap<string, Database>;
};

export function takeSnapshot(engine: Engine): Snapshot {
  const shards: ShardView[] = [];
  for (const shard of engine.shards.all()) {
    const tables = new Map<number, TableView[]>();
    for (const [id, table] of shard.active) tables.set(id, [{ table, rows: table.rows }]);
    shards.push({ shard, tables });
  }
  return { shards, databases: new Map(engine.databases) };
}
