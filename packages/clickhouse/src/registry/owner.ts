// Tables belong to one service: ids of retention policies are those of its catalog, and another
// catalog has others behind the same numbers.
import { Conflict } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import type { Cluster } from '../cluster/cluster.ts';
import { RowReader, RowWriter } from '../sql/row-binary.ts';
import { OWNER_TABLE } from '../sql/tables.ts';

/** Takes tables that are nobody's. Throws `Conflict` when they are somebody else's. */
export async function takeTables(cluster: Cluster, owner: string, clock: Clock): Promise<void> {
  const table = cluster.table(OWNER_TABLE);
  let first = await ownerOf(cluster, table);
  if (first === undefined) {
    const row = new RowWriter();
    row.text(owner);
    row.int64(clock.now());
    await cluster.insert(0, `${table} (id, made)`, row.finish());
    first = await ownerOf(cluster, table);
  }
  if (first === owner) return;
  throw new Conflict(
    `the tables in the database ${cluster.settings.database} of the cluster belong to another service: start with the catalog (meta.dir) of that one, or name another storage.clickhouse-database`,
  );
}

async function ownerOf(cluster: Cluster, table: string): Promise<string | undefined> {
  const reader = new RowReader(
    await cluster.rowsOfAny(`SELECT id FROM ${table} ORDER BY made, id LIMIT 1`),
  );
  return reader.hasMore ? reader.text() : undefined;
}
