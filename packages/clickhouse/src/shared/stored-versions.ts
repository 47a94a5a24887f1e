// The versions of stored rows.
import type { Cluster } from '../cluster/cluster.ts';
import { sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';

/** The highest version of all points and series; 0 if there are none. Reads all rows. */
export async function newestVersion(cluster: Cluster): Promise<bigint> {
  const tables = new Set<string>();
  for (const answer of await cluster.rowsOfAll(
    `SELECT name FROM system.tables WHERE database = ${sqlText(cluster.settings.database)}
       AND match(name, '^(points|series)_[0-9]+$')`,
  )) {
    const reader = new RowReader(answer);
    while (reader.hasMore) tables.add(reader.text());
  }
  let newest = 0n;
  for (const table of tables) {
    for (const answer of await cluster.rowsOfAll(
      `SELECT max(version) FROM ${cluster.table(table)}`,
    )) {
      const reader = new RowReader(answer);
      const own = reader.hasMore ? reader.uint64() : 0n;
      if (own > newest) newest = own;
    }
  }
  return newest;
}
