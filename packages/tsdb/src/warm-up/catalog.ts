// The databases of the warm-up: one as read from a catalog and one as newly created, because V8
// distinguishes objects by how they were constructed.
import { assert } from '@tidemark/core';

import { parseCatalog, printCatalog } from '../catalog/catalog-record.ts';
import { createDatabase } from '../catalog/databases.ts';
import { EMPTY_CATALOG } from '../catalog/model.ts';
import type { CatalogState } from '../catalog/model.ts';
import { WARM_UP_DATABASES, SHARD_NANOS } from './script.ts';

export function warmUpCatalog(): CatalogState {
  const [first, second] = WARM_UP_DATABASES;
  const created = withDatabase(EMPTY_CATALOG, first);
  const text = printCatalog({ databases: [...created.databases.values()], users: [], tokens: [] });
  const read = parseCatalog(text);
  assert(read !== undefined, 'what was printed can be read');
  const databases = new Map(read.databases.map((database) => [database.name, database]));
  return withDatabase({ ...created, databases }, second);
}

function withDatabase(state: CatalogState, name: string): CatalogState {
  const options = { shardDurationNanos: SHARD_NANOS };
  return createDatabase(state, { name, options, hasOptions: true, createsPolicy: true });
}
