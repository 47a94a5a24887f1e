// The retention policies that a request reads, with the shard groups that overlap its time range.
import type { TimeRange } from '@tidemark/core';

import type { ShardGroup } from '../shared/entries.ts';
import type { Registry } from '../shared/registry.ts';
import { sqlIn } from '../sql/literals.ts';

/** A retention policy with some of its shard groups. */
export type PolicyPart = {
  readonly policyId: number;
  readonly groups: readonly ShardGroup[];
};

export type PartFilter = {
  readonly database: string;
  readonly retentionPolicy?: string | undefined;
  readonly timeRange?: TimeRange | undefined;
};

/** The policies that may have points, with the shard groups in question. */
export function partsOf(registry: Registry, filter: PartFilter): readonly PolicyPart[] {
  const { database, retentionPolicy, timeRange } = filter;
  const groups = registry.groupsOf(
    (group) =>
      group.database === database &&
      (retentionPolicy === undefined || group.retentionPolicy === retentionPolicy),
    timeRange,
  );
  const parts = new Map<number, ShardGroup[]>();
  for (const group of groups) {
    const part = parts.get(group.policyId);
    if (part === undefined) parts.set(group.policyId, [group]);
    else part.push(group);
  }
  return Array.from(parts, ([policyId, own]) => ({ policyId, groups: own }));
}

/** The condition on the partitions of a part. */
export function inGroups({ groups }: PolicyPart): string {
  return sqlIn(
    'grp',
    groups.map(({ id }) => String(id)),
  );
}
