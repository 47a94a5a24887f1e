// Marks series that a delete has left without rows as deleted, and removes tag keys that no series
// has any more.
import { ALL_TIME } from '@tidemark/core';

import type { Cluster } from '../cluster/cluster.ts';
import { columnIdOf } from '../ids.ts';
import { livePoints, liveSeries } from '../read/live.ts';
import { inGroups } from '../read/parts.ts';
import type { PolicyPart } from '../read/parts.ts';
import { coversMeasurement } from '../shared/deletes.ts';
import type { Delete } from '../shared/deletes.ts';
import { NameTable } from '../shared/name-table.ts';
import type { Registry } from '../shared/registry.ts';
import type { SharedState } from '../shared/shared-state.ts';
import { filterCondition } from '../sql/conditions.ts';
import { sqlIn } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';
import { pointsTable, SERIES_COLUMNS, seriesTable } from '../sql/tables.ts';
import { SeriesRows } from './series-rows.ts';
import type { SeriesRow } from './series-rows.ts';

export type DeletedSeriesParts = { readonly cluster: Cluster; readonly state: SharedState };

/** Series per statement. */
const SERIES_PER_STATEMENT = 10_000;

/** The policies of a delete, with those of its shard groups that still exist. */
export function partsOfDelete(registry: Registry, { groups }: Delete): readonly PolicyPart[] {
  const parts = new Map<number, PolicyPart['groups'][number][]>();
  for (const id of groups) {
    const group = registry.group(id);
    if (group === undefined) continue;
    const part = parts.get(group.policyId) ?? [];
    parts.set(group.policyId, [...part, group]);
  }
  return Array.from(parts, ([policyId, own]) => ({ policyId, groups: own }));
}

/** Ids of the columns of a measurement in shard groups. */
export function columnsIn(
  registry: Registry,
  groups: readonly number[],
  measurement: string,
): readonly string[] {
  const ids = new Set<string>();
  for (const id of groups) {
    for (const [field, type] of registry.fields(id, measurement))
      ids.add(String(columnIdOf(measurement, field, type)));
  }
  return [...ids];
}

/**
 * Marks series as deleted that have no rows left after a delete. Series that were announced after
 * the delete are kept, because their rows may be on the way.
 */
export async function markDeletedSeries(parts: DeletedSeriesParts, deleted: Delete): Promise<void> {
  await replaceMarks(parts, deleted, { isDeleted: false, olderThan: deleted.version });
}

/**
 * Removes the marks of series that do have rows: a write that was accepted before the delete may be
 * stored after the marks.
 */
export async function restoreSeries(parts: DeletedSeriesParts, deleted: Delete): Promise<void> {
  await replaceMarks(parts, deleted, { isDeleted: true, olderThan: undefined });
}

/**
 * Removes tag keys, by an entry of the shared log, that no series of the covered measurements has
 * any more.
 */
export async function dropTagsOf(parts: DeletedSeriesParts, deleted: Delete): Promise<void> {
  const { cluster, state } = parts;
  const { registry } = state;
  for (const part of partsOfDelete(registry, deleted)) {
    const known = part.groups.flatMap(({ id: group }) =>
      [...registry.measurementsOf(part.groups)]
        .filter((name) => coversMeasurement(deleted, name))
        .flatMap((measurement) =>
          Array.from(registry.tags(group, measurement), (tag) => ({ group, measurement, tag })),
        ),
    );
    if (known.length === 0) continue;
    const measurements = [...new Set(known.map(({ measurement }) => measurement))];
    const answers = await cluster.rowsOfAll(
      `SELECT DISTINCT grp, measurement, arrayJoin(arrayPushBack(tag_keys, '')) AS tag
       FROM ${liveSeries({ cluster, registry, part })} AND ${filterCondition({ measurements })}`,
    );
    const held = new NameTable<true>();
    for (const answer of answers) {
      const reader = new RowReader(answer);
      while (reader.hasMore) {
        const owner = { group: reader.uint32(), measurement: reader.text() };
        held.add(owner, reader.text(), true);
      }
    }
    const tags = known.filter(
      ({ group, measurement, tag }) => !held.of(group, measurement).has(tag),
    );
    const groups = [...new Set(tags.map(({ group }) => group))];
    if (tags.length > 0) await state.agree(() => ({ kind: 'series-gone', groups, tags }));
  }
}

/** Series that are, or are not, marked as deleted. */
type Marked = { readonly isDeleted: boolean; readonly olderThan: bigint | undefined };

async function replaceMarks(
  parts: DeletedSeriesParts,
  deleted: Delete,
  marked: Marked,
): Promise<void> {
  const { cluster, state } = parts;
  for (const part of partsOfDelete(state.registry, deleted)) {
    await Promise.all(
      Array.from({ length: cluster.shardCount }, async (_, shard) => {
        let last: Found | undefined;
        do {
          const found = await findMarked(parts, { part, shard, deleted, marked, after: last });
          await replaceOnShard(parts, { part, shard, deleted, marked }, found);
          last = found.length < SERIES_PER_STATEMENT ? undefined : found.at(-1);
        } while (last !== undefined);
      }),
    );
  }
}

type OnShard = {
  readonly part: PolicyPart;
  readonly shard: number;
  readonly deleted: Delete;
  readonly marked: Marked;
};

type Found = SeriesRow & { readonly version: bigint };

/** A page of the series that a delete covers, in order of their ids. */
async function findMarked(
  { cluster }: DeletedSeriesParts,
  on: OnShard & { readonly after: Found | undefined },
): Promise<readonly Found[]> {
  const { part, shard, deleted, marked, after } = on;
  const conditions = [
    `is_gone = ${marked.isDeleted ? 1 : 0}`,
    inGroups(part),
    filterCondition(deleted.filter),
    ...(marked.olderThan === undefined ? [] : [`version < ${marked.olderThan}`]),
    ...(after === undefined
      ? []
      : [`(series, grp) > (toUInt64(${after.id}), toUInt32(${after.group}))`]),
  ];
  const reader = new RowReader(
    await cluster.rows(
      shard,
      `SELECT version, measurement, grp, series, tag_keys, tag_values
       FROM ${cluster.table(seriesTable(part.policyId))} FINAL
       WHERE ${conditions.join(' AND ')} ORDER BY series, grp LIMIT ${SERIES_PER_STATEMENT}`,
    ),
  );
  const found: Found[] = [];
  while (reader.hasMore) {
    found.push({
      version: reader.uint64(),
      measurement: reader.text(),
      group: reader.uint32(),
      id: reader.uint64(),
      tagKeys: reader.texts(),
      tagValues: reader.texts(),
    });
  }
  return found;
}

async function replaceOnShard(
  parts: DeletedSeriesParts,
  { part, shard, marked }: OnShard,
  found: readonly Found[],
): Promise<void> {
  const { cluster, state } = parts;
  const byMeasurement = new Map<string, Found[]>();
  for (const series of found) {
    const own = byMeasurement.get(series.measurement);
    if (own === undefined) byMeasurement.set(series.measurement, [series]);
    else own.push(series);
  }
  const rows = new SeriesRows();
  for (const [measurement, own] of byMeasurement) {
    const live = await withRows(parts, { part, shard, measurement }, own);
    for (const series of own) {
      const isDeleted = !live.has(`${series.group} ${series.id}`);
      if (isDeleted !== marked.isDeleted) {
        rows.replace(series, { version: series.version, isDeleted });
        if (!isDeleted) await announceTags(state, series);
      }
    }
  }
  if (rows.sizeBytes === 0) return;
  const into = `${cluster.table(seriesTable(part.policyId))} ${SERIES_COLUMNS} FORMAT RowBinary`;
  await cluster.insert(shard, { into, rows: rows.finish() });
}

async function announceTags(state: SharedState, { group, measurement, tagKeys }: SeriesRow) {
  const tags = ['', ...tagKeys].map((tag) => ({ group, measurement, tag }));
  await state.add({ groups: [], fields: [], tags });
}

/** Those of the given series of a measurement that have rows which no delete hides. */
async function withRows(
  { cluster, state: { registry } }: DeletedSeriesParts,
  on: { readonly part: PolicyPart; readonly shard: number; readonly measurement: string },
  series: readonly SeriesRow[],
): Promise<ReadonlySet<string>> {
  const { part, shard, measurement } = on;
  const groups = part.groups.map(({ id }) => id);
  const columns = columnsIn(registry, groups, measurement);
  const ids = series.map(({ id }) => String(id));
  const conditions = [
    sqlIn('column', columns),
    sqlIn('series', ids),
    inGroups(part),
    // Needs no FINAL: a key has a visible row if any of its rows is visible.
    ...livePoints({ cluster, registry, part, measurement }, ALL_TIME),
  ];
  const live = new Set<string>();
  if (columns.length === 0) return live;
  const reader = new RowReader(
    await cluster.rows(
      shard,
      `SELECT grp, series FROM ${cluster.table(pointsTable(part.policyId))}
       WHERE ${conditions.join(' AND ')} GROUP BY grp, series`,
    ),
  );
  while (reader.hasMore) live.add(`${reader.uint32()} ${reader.uint64()}`);
  return live;
}
