// The contents of the engine. Recovery fills them. Afterwards durable records of the log change
// them (`write/apply.ts`), and so do commits (`state.ts`).
import type { Memtables } from '../memtable/memtables.ts';
import type { ShardStore } from './shard-store.ts';
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
