// Drops shard groups and policies: first by an entry of the shared log, then their partitions and
// tables.
import type { Cluster } from '../cluster/cluster.ts';
import type { ShardGroup } from '../shared/entries.ts';
import type { SharedState } from '../shared/shared-state.ts';
import { sqlName } from '../sql/literals.ts';
import { pointsTable, seriesTable } from '../sql/tables.ts';
import type { PartitionSweeper } from './partition-sweeper.ts';
import type { Writer } from './writer.ts';

export type DropParts = {
  readonly cluster: Cluster;
  readonly state: SharedState;
  readonly writer: Writer;
  readonly sweeper: PartitionSweeper;
};

/** Drops the tables of a policy. */
export async function dropPolicy(parts: DropParts, policyId: number): Promise<void> {
  const { cluster, state, writer } = parts;
  const { database } = cluster.settings;
  await writer.exclusively(policyId, async () => {
    await state.sync();
    if (!(await dropGroups(state, (group) => group.policyId === policyId))) return;
    writer.forgetTables(policyId);
    for (const table of [pointsTable(policyId), seriesTable(policyId)])
      await cluster.define(
        (onCluster) => `DROP TABLE IF EXISTS ${sqlName(database)}.${table} ${onCluster}`,
      );
  });
}

/** Drops a shard group; `false` if there is none. Its partitions are removed in the background. */
export async function dropGroup({ state, sweeper }: DropParts, id: number): Promise<boolean> {
  await state.sync();
  if (!(await dropGroups(state, (one) => one.id === id))) return false;
  sweeper.sweepNow();
  return true;
}

/** Appends the drop of shard groups to the shared log; `false` if there are none. */
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
