// The tables of the cluster (docs/adr/0013-clickhouse-tables.md).
import { sqlName, sqlText } from './literals.ts';

/** Values of a retention policy: one row per series, time and field. */
export function pointsTable(policyId: number): string {
  return `points_${policyId}`;
}

/** The series with rows in each shard group of a retention policy. */
export function seriesTable(policyId: number): string {
  return `series_${policyId}`;
}

/** Entries that front ends propose and agree on, the same on every node. */
export const SHARED_TABLE = 'shared_log';

/** Texts of documents, the same on every node. */
export const DOCUMENTS_TABLE = 'documents';

/** Heartbeats of the holder of the lease, the same on every node. */
export const BEATS_TABLE = 'beats';

/**
 * An empty table of which every node has its own. Its path in ZooKeeper orders writes
 * (`VersionClock`).
 */
export const CLOCK_TABLE = 'clock';

export const POINT_COLUMNS = '(column, hour, series, time, f, i, s, version, grp)';
export const SERIES_COLUMNS = '(version, measurement, series, tag_keys, tag_values, is_gone, grp)';

/** The hour of a time, rounded down also before 1970. */
const HOUR = 'toInt32(intDiv(time, toInt64(3600000000000)) - (time % toInt64(3600000000000) < 0))';

/**
 * How many of the last blocks of a table ClickHouse recognises. A block that is repeated later is
 * stored twice, with the same version in its rows.
 */
const BLOCKS_KNOWN = 1000;

type Placement = {
  readonly database: string;
  readonly onCluster: string;
};

/** `CREATE DATABASE` and the tables that are the same on every node. */
export function commonTables(database: string): readonly ((onCluster: string) => string)[] {
  const everywhere = (name: string, columns: string, order: string) => (onCluster: string) =>
    `CREATE TABLE IF NOT EXISTS ${sqlName(database)}.${name} ${onCluster} (${columns})
     ENGINE = ReplicatedReplacingMergeTree(
       ${sqlText(`/tidemark/${database}/${name}`)}, '{shard}-{replica}')
     ORDER BY ${order}`;
  return [
    (onCluster) => `CREATE DATABASE IF NOT EXISTS ${sqlName(database)} ${onCluster}`,
    everywhere(
      SHARED_TABLE,
      'version UInt64, proposal String, parent String, parent_order UInt64, payload String',
      '(version, proposal)',
    ),
    everywhere(DOCUMENTS_TABLE, 'document String, row String, text String', '(document, row)'),
    everywhere(BEATS_TABLE, 'holder String, beat UInt64', 'holder'),
    (onCluster) =>
      `CREATE TABLE IF NOT EXISTS ${sqlName(database)}.${CLOCK_TABLE} ${onCluster} (x UInt8)
       ENGINE = ReplicatedMergeTree(
         ${sqlText(`/tidemark/${database}/${CLOCK_TABLE}/{shard}-{replica}`)}, '{replica}')
       ORDER BY tuple()`,
  ];
}

/**
 * The tables of a retention policy. Among rows with the same key, the one with the highest version
 * counts.
 */
export function policyTables(policyId: number, { database, onCluster }: Placement) {
  const sharded = (name: string, columns: string, order: string): string =>
    `CREATE TABLE IF NOT EXISTS ${sqlName(database)}.${name} ${onCluster} (${columns})
     ENGINE = ReplicatedReplacingMergeTree(
       ${sqlText(`/tidemark/${database}/{shard}/${name}`)}, '{replica}', version)
     PARTITION BY grp ORDER BY ${order}
     SETTINGS replicated_deduplication_window = ${BLOCKS_KNOWN}`;
  return [
    sharded(
      pointsTable(policyId),
      `column UInt64, hour Int32 DEFAULT ${HOUR}, series UInt64, time Int64,
       f Float64, i Int64, s String, version UInt64, grp UInt32`,
      '(column, hour, series, time)',
    ),
    sharded(
      seriesTable(policyId),
      `measurement String, series UInt64, tag_keys Array(String), tag_values Array(String),
       is_gone UInt8, version UInt64, grp UInt32`,
      // The shard group is part of the key, because FINAL also merges across partitions.
      '(measurement, series, grp)',
    ),
  ];
}
