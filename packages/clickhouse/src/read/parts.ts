// Where the points of a request lie: retention policies with those of their shard groups that
// overlap its time.
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

/** Those that may hold points; a policy without such a group is left out. */
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

/** Which partitions of its tables a part speaks of. */
export function inGroups({ groups }: PolicyPart): string {
  return sqlIn(
    'grp',
    groups.map(({ id }) => String(id)),
  );
}
