// What the engine holds. Recovery fills it, durable records of the log change it, and so do commits
// of the manifest (`state.ts`).
import type { Memtables } from '../memtable/memtables.ts';
import type { ShardStore } from '../shard/shard-store.ts';
import type { Databases } from './databases.ts';
import type { Ids } from './ids.ts';
import type { StoppedDatabases } from './stopped-databases.ts';

export type Contents = {
  readonly ids: Ids;
  readonly shards: ShardStore;
  readonly databases: Databases;
  readonly stopped: StoppedDatabases;
  readonly memtables: Memtables;
};
