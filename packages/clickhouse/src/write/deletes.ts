// What takes points away: deletes of series and measurements, drops of shard groups and policies.
import type { DeleteRequest } from '@tidemark/storage';

import type { Cluster } from '../cluster/cluster.ts';
import { columnIdOf } from '../ids.ts';
import { inGroups, partsOf } from '../read/parts.ts';
import type { PolicyPart } from '../read/parts.ts';
import { timeCondition } from '../read/point-condition.ts';
import type { ShardGroup, TagPlace } from '../shared/entries.ts';
import { PlaceTable } from '../shared/place-table.ts';
import type { Registry } from '../shared/registry.ts';
import type { SharedState } from '../shared/shared-state.ts';
import { filterCondition } from '../sql/conditions.ts';
import { sqlName } from '../sql/literals.ts';
import { RowReader, RowWriter } from '../sql/row-binary.ts';
import { POINT_COLUMNS, pointsTable, seriesTable } from '../sql/tables.ts';
import { dropPartition } from './leftovers.ts';
import type { PendingRows } from './pending.ts';
import type { Writer } from './writer.ts';

export type DeleteParts = {
  readonly cluster: Cluster;
  readonly state: SharedState;
  readonly writer: Writer;
};

/** Series that one change names. */
const SERIES_PER_CHANGE = 10_000;

/** Deletes rows; series that have no others vanish. */
export async function deletePoints(parts: DeleteParts, request: DeleteRequest): Promise<void> {
  const { cluster, state, writer } = parts;
  await state.sync();
  for (const part of partsOf(state.registry, request)) {
    const { policyId } = part;
    const found = await writer.alone(policyId, async (rows) =>
      Promise.all(
        Array.from({ length: cluster.shardCount }, (_, shard) =>
          deleteOnShard(parts, part, { shard, request, rows }),
        ),
      ),
    );
    const groups = part.groups.map(({ id }) => id);
    await writer.alone(policyId, async () => {
      const tags = await tagsWithoutSeries(parts, part, new Set(found.flat()));
      await state.agree(() => ({ kind: 'series-gone', groups, tags }));
    });
  }
}

/** What is known of the tags of measurements that no series of them has any more. */
async function tagsWithoutSeries(
  { cluster, state: { registry } }: DeleteParts,
  part: PolicyPart,
  measurements: ReadonlySet<string>,
): Promise<readonly TagPlace[]> {
  const known = part.groups.flatMap(({ id: group }) =>
    [...measurements].flatMap((measurement) =>
      Array.from(registry.tags(group, measurement), (tag) => ({ group, measurement, tag })),
    ),
  );
  if (known.length === 0) return [];
  const answers = await cluster.rowsOfAll(
    `SELECT DISTINCT grp, measurement, arrayJoin(arrayPushBack(tag_keys, '')) AS tag
     FROM ${cluster.table(seriesTable(part.policyId))} FINAL
     WHERE NOT is_gone AND ${inGroups(part)}
       AND ${filterCondition({ measurements: [...measurements] })}`,
  );
  const held = new PlaceTable<true>();
  for (const answer of answers) {
    const reader = new RowReader(answer);
    while (reader.hasMore) {
      const place = { group: reader.uint32(), measurement: reader.text() };
      held.add(place, reader.text(), true);
    }
  }
  return known.filter(({ group, measurement, tag }) => !held.of(group, measurement).has(tag));
}

/** Deletes all rows of a measurement and the types of its fields. */
export async function dropMeasurement(
  parts: DeleteParts,
  database: string,
  measurement: string,
): Promise<void> {
  const { state } = parts;
  await deletePoints(parts, { database, measurements: [measurement] });
  await state.agree(() => {
    const groups = state.registry
      .groupsOf((group) => group.database === database)
      .map(({ id }) => id)
      .filter((id) => state.registry.fields(id, measurement).size > 0);
    return groups.length === 0 ? undefined : { kind: 'drop-measurement', measurement, groups };
  });
}

/** Drops the tables of a policy. */
export async function dropPolicy(parts: DeleteParts, policyId: number): Promise<void> {
  const { cluster, state, writer } = parts;
  const { database } = cluster.settings;
  await writer.alone(policyId, async () => {
    await state.sync();
    if (!(await dropGroups(state, (group) => group.policyId === policyId))) return;
    writer.forgetTables(policyId);
    for (const table of [pointsTable(policyId), seriesTable(policyId)])
      await cluster.define(
        (onCluster) => `DROP TABLE IF EXISTS ${sqlName(database)}.${table} ${onCluster}`,
      );
  });
}

/** Drops a shard group, where shards answer (see `Leftovers`); `false` when there is none. */
export async function dropGroup(parts: DeleteParts, id: number): Promise<boolean> {
  const { cluster, state, writer } = parts;
  await state.sync();
  const group = state.registry.group(id);
  if (group === undefined) return false;
  const { policyId } = group;
  return writer.alone(policyId, async () => {
    if (!(await dropGroups(state, (one) => one.id === id))) return false;
    for (let shard = 0; shard < cluster.shardCount; shard++) {
      for (const table of [pointsTable(policyId), seriesTable(policyId)])
        await dropPartition(cluster, shard, { table, group: id });
    }
    return true;
  });
}

/** Nobody knows the groups any more; `false` when nobody has before. */
async function dropGroups(
  state: SharedState,
  isMeant: (group: ShardGroup) => boolean,
): Promise<boolean> {
  let hasAny = false;
  await state.agree(() => {
    const ids = state.registry.groupsOf(isMeant).map(({ id }) => id);
    hasAny ||= ids.length > 0;
    return ids.length === 0 ? undefined : { kind: 'drop-groups', ids };
  });
  return hasAny;
}

/** Names of the measurements that it has found. */
async function deleteOnShard(
  { cluster, state }: DeleteParts,
  part: PolicyPart,
  scope: {
    readonly shard: number;
    readonly request: DeleteRequest;
    readonly rows: PendingRows;
  },
): Promise<readonly string[]> {
  const { shard, request, rows } = scope;
  const found = new RowReader(
    await cluster.rows(
      shard,
      `SELECT measurement, grp, series FROM ${cluster.table(seriesTable(part.policyId))} FINAL
       WHERE NOT is_gone AND ${inGroups(part)} AND ${filterCondition(request)}`,
    ),
  );
  const byMeasurement = new Map<string, Place[]>();
  while (found.hasMore) {
    const measurement = found.text();
    const places = byMeasurement.get(measurement) ?? [];
    byMeasurement.set(measurement, places);
    const group = found.uint32();
    places.push({ group, id: found.uint64() });
  }
  for (const [measurement, places] of byMeasurement) {
    const columns = columnsIn(state.registry, part, measurement).join(', ');
    for (let at = 0; at < places.length; at += SERIES_PER_CHANGE) {
      const some = places.slice(at, at + SERIES_PER_CHANGE);
      const ids = [...new Set(some.map(({ id }) => id))].join(', ');
      const which = `column IN (${columns}) AND series IN (${ids}) AND ${inGroups(part)}`;
      const { timeRange } = request;
      const isIn = timeRange === undefined ? '' : ` AND ${timeCondition(timeRange)}`;
      await deleteRows({ cluster, part, shard }, which + isIn);
      const left = await placesWithRows({ cluster, part, shard }, which);
      for (const place of some) {
        if (!left.has(`${place.group} ${place.id}`))
          rows.addSeries(shard, { measurement, ...place }, 'gone');
      }
    }
  }
  return [...byMeasurement.keys()];
}

/** A series in a shard group. */
type Place = { readonly group: number; readonly id: bigint };

type OnShard = {
  readonly cluster: Cluster;
  readonly part: PolicyPart;
  readonly shard: number;
};

async function deleteRows({ cluster, part, shard }: OnShard, condition: string): Promise<void> {
  const table = pointsTable(part.policyId);
  const mark = await cluster.startDelete(shard, table, condition);
  // 18.16 leaves the last block that was inserted with a quorum alone, in every partition: rows of
  // no column make another block the last.
  const rows = new RowWriter();
  const [batch = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  for (const { id } of part.groups) {
    rows.uint64(0n);
    rows.int32(0);
    rows.uint64(0n);
    rows.int64(0n);
    rows.float64(0);
    rows.int64(0n);
    rows.text('');
    rows.uint64(batch);
    rows.uint32(id);
  }
  const into = `${cluster.table(table)} ${POINT_COLUMNS} FORMAT RowBinary`;
  await cluster.insert(shard, { into, rows: rows.finish() });
  await cluster.endDelete(shard, table, mark);
}

/** Series that have rows, with their shard groups, as text. */
async function placesWithRows(
  { cluster, part, shard }: OnShard,
  which: string,
): Promise<ReadonlySet<string>> {
  const reader = new RowReader(
    await cluster.rows(
      shard,
      `SELECT grp, series FROM ${cluster.table(pointsTable(part.policyId))}
       WHERE ${which} GROUP BY grp, series`,
    ),
  );
  const left = new Set<string>();
  while (reader.hasMore) left.add(`${reader.uint32()} ${reader.uint64()}`);
  return left;
}

function columnsIn(registry: Registry, part: PolicyPart, measurement: string): readonly bigint[] {
  const ids = new Set<bigint>();
  for (const { id } of part.groups) {
    for (const [field, type] of registry.fields(id, measurement))
      ids.add(columnIdOf(measurement, field, type));
  }
  return [...ids];
}
