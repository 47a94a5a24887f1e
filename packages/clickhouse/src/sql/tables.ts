// The tables of the cluster (docs/adr/0013-clickhouse-tables.md).
import { sqlName, sqlText } from './literals.ts';

/** Values of a retention policy: one row per series, time and field. */
export function pointsTable(policyId: number): string {
  return `points_${policyId}`;
}

/** Which series have rows in which shard group of a retention policy. */
export function seriesTable(policyId: number): string {
  return `series_${policyId}`;
}

/** Shard groups of all retention policies, the same on every node. */
export const GROUPS_TABLE = 'shard_groups';

/** Whose the tables are: the service with this id, of the rows the first. */
export const OWNER_TABLE = 'owner';

/** Types of fields by shard group, the same on every node; an empty type is none any more. */
export const FIELDS_TABLE = 'fields';

export const POINT_COLUMNS = '(column, hour, series, time, f, i, s, batch, grp)';
export const SERIES_COLUMNS = '(measurement, series, tag_keys, tag_values, is_gone, batch, grp)';
export const GROUP_COLUMNS =
  '(id, policy, database, retention_policy, start, stop, is_dropped, batch)';
export const FIELD_COLUMNS = '(grp, measurement, field, type, batch)';

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
    everywhere(OWNER_TABLE, 'id String, made Int64', '(made, id)'),
    everywhere(
      GROUPS_TABLE,
      `id UInt32, policy UInt32, database String, retention_policy String,
       start Int64, stop Int64, is_dropped UInt8, batch UInt64`,
      'id',
    ),
    everywhere(
      FIELDS_TABLE,
      'grp UInt32, measurement String, field String, type String, batch UInt64',
      '(grp, measurement, field)',
    ),
  ];
}

/** The tables of a retention policy. */
export function policyTables(policyId: number, { database, onCluster }: Placement) {
  const sharded = (name: string, columns: string, order: string): string =>
    `CREATE TABLE IF NOT EXISTS ${sqlName(database)}.${name} ${onCluster} (${columns})
     ENGINE = ReplicatedReplacingMergeTree(
       ${sqlText(`/tidemark/${database}/{shard}/${name}`)}, '{replica}')
     PARTITION BY grp ORDER BY ${order}`;
  return [
    sharded(
      pointsTable(policyId),
      `column UInt64, hour Int32, series UInt64, time Int64,
       f Float64, i Int64, s String, batch UInt64, grp UInt32`,
      '(column, hour, series, time)',
    ),
    sharded(
      seriesTable(policyId),
      `measurement String, series UInt64, tag_keys Array(String), tag_values Array(String),
       is_gone UInt8, batch UInt64, grp UInt32`,
      // FINAL also merges across partitions.
      '(measurement, series, grp)',
    ),
  ];
}
