// SQL conditions that hide deleted points and series: rows that a delete covers, with a lower
// version than the delete, are hidden until they are removed.
import type { TimeRange } from '@tidemark/core';

import type { Cluster } from '../cluster/cluster.ts';
import { coversMeasurement } from '../shared/deletes.ts';
import type { Delete } from '../shared/deletes.ts';
import type { ShardGroup } from '../shared/entries.ts';
import type { Registry } from '../shared/registry.ts';
import { filterCondition } from '../sql/conditions.ts';
import { sqlIn } from '../sql/literals.ts';
import { seriesTable } from '../sql/tables.ts';
import { inGroups } from './parts.ts';
import type { PolicyPart } from './parts.ts';
import { timeCondition } from '../sql/time-condition.ts';

/** Part of a policy, with the registry of deletes. */
export type StoredPart = {
  readonly cluster: Cluster;
  readonly registry: Registry;
  readonly part: PolicyPart;
};

/** Conditions over a points table that hide the deleted points of a measurement. */
export function livePoints(
  { cluster, registry, part, measurement }: StoredPart & { readonly measurement: string },
  timeRange: TimeRange,
): readonly string[] {
  /**
   * Covered rows by the condition on series, which many deletes share and which costs more than the
   * rest.
   */
  const covered = new Map<string, string[]>();
  for (const { deleted, groups } of deletesOf(registry, part)) {
    const range = deleted.timeRange;
    if (range !== undefined && (range.start > timeRange.end || range.end < timeRange.start))
      continue;
    if (!coversMeasurement(deleted, measurement)) continue;
    const { where } = deleted.filter;
    // Series that are marked as deleted are included, because their rows keep the tags.
    const series =
      where === undefined
        ? '1'
        : `series IN (SELECT series FROM ${cluster.table(seriesTable(part.policyId))}
           WHERE ${inGroups(part)} AND ${filterCondition({ measurements: [measurement], where })})`;
    const rows = `(${coveredRows(deleted, groups, part).join(' AND ')})`;
    covered.set(series, [...(covered.get(series) ?? []), rows]);
  }
  return Array.from(covered, ([series, rows]) => `NOT (${series} AND (${rows.join(' OR ')}))`);
}

/** The FROM and WHERE of a read of the live series of a part; more conditions may follow. */
export function liveSeries({ cluster, registry, part }: StoredPart): string {
  const hidden = deletesOf(registry, part).flatMap(({ deleted, groups }) => {
    const whole = groups.filter((group) => coversGroup(deleted, group));
    if (whole.length === 0) return [];
    const covered = coveredRows({ ...deleted, timeRange: undefined }, whole, part);
    return [`AND NOT (${covered.join(' AND ')} AND ${filterCondition(deleted.filter)})`];
  });
  return `${cluster.table(seriesTable(part.policyId))} FINAL
     WHERE NOT is_gone AND ${[inGroups(part), ...hidden].join(' ')}`;
}

/** Whether a delete covers all times of a shard group. */
export function coversGroup({ timeRange }: Delete, { start, end }: ShardGroup): boolean {
  return timeRange === undefined || (timeRange.start <= start && timeRange.end >= end - 1n);
}

/** Conditions over both tables: rows that a delete covers, by version, shard group and time. */
export function coveredRows(
  { version, timeRange }: Delete,
  groups: readonly ShardGroup[],
  part: PolicyPart,
): string[] {
  const conditions = [`version < ${version}`];
  if (groups.length < part.groups.length)
    conditions.push(
      sqlIn(
        'grp',
        groups.map(({ id }) => String(id)),
      ),
    );
  if (timeRange !== undefined) conditions.push(timeCondition(timeRange));
  return conditions;
}

type DeleteOfPart = { readonly deleted: Delete; readonly groups: readonly ShardGroup[] };

/** The deletes that cover shard groups of a part. */
function deletesOf(registry: Registry, part: PolicyPart): readonly DeleteOfPart[] {
  return registry.deletes.all.flatMap((deleted) => {
    const groups = part.groups.filter(({ id }) => deleted.groups.includes(id));
    return groups.length === 0 ? [] : [{ deleted, groups }];
  });
}
