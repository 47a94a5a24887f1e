// Removes partitions of dropped shard groups. The front end that drops a group removes its
// partitions at once. The holder of the lease looks for those that are left, on shards that were
// unreachable or from front ends that did not know of the drop yet.
import type { Clock } from '@tidemark/core';
import type { StorageLog } from '@tidemark/storage-api';

import type { Cluster } from '../cluster/cluster.ts';
import { Unreachable } from '../cluster/failure.ts';
import { LIMITS } from '../limits.ts';
import { PeriodicJob } from '../periodic-job.ts';
import type { Lease } from '../shared/lease.ts';
import type { SharedState } from '../shared/shared-state.ts';
import { sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';

export type SweeperParts = {
  readonly cluster: Cluster;
  readonly state: SharedState;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly log: StorageLog;
  /** `LIMITS.sweepMs` when absent. */
  readonly sweepMs?: number | undefined;
};

export class PartitionSweeper {
  readonly #parts: SweeperParts;
  readonly #job: PeriodicJob;
  /** Whether this front end has dropped shard groups since the last sweep. */
  #hasDropped = false;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
    this.#job = new PeriodicJob({
      ...parts,
      what: 'remove dropped data',
      everyMs: parts.sweepMs ?? LIMITS.sweepMs.value,
      work: async () => {
        if (!this.#hasDropped && parts.lease.signal === undefined) return;
        this.#hasDropped = false;
        await this.#sweep();
      },
    });
  }

  /** Starts to remove what was just dropped. */
  sweepNow(): void {
    this.#hasDropped = true;
    this.#job.runNow();
  }

  close(): Promise<void> {
    return this.#job.close();
  }

  async #sweep(): Promise<void> {
    const { cluster, state } = this.#parts;
    const shards = Array.from({ length: cluster.shardCount }, (_, shard) => shard);
    const found = await Promise.all(shards.map((shard) => this.#partitions(shard)));
    // Groups are read after the partitions, because a group is agreed on before anything is written
    // to it.
    await state.sync();
    for (const [shard, partitions] of found.entries()) {
      for (const { table, group } of partitions) {
        if (state.registry.group(group) === undefined)
          await dropPartition(cluster, shard, { table, group });
      }
    }
  }

  async #partitions(shard: number): Promise<readonly Partition[]> {
    const { cluster } = this.#parts;
    const reader = new RowReader(
      await cluster.rows(
        shard,
        `SELECT DISTINCT table, toUInt32(partition) FROM system.parts
         WHERE active AND database = ${sqlText(cluster.settings.database)}
           AND match(table, '^(points|series)_[0-9]+$')`,
        { onUnreachable: () => undefined },
      ),
    );
    const partitions: Partition[] = [];
    while (reader.hasMore) partitions.push({ table: reader.text(), group: reader.uint32() });
    return partitions;
  }
}

type Partition = { readonly table: string; readonly group: number };

/** Drops a partition. The next sweep does so on shards that are unreachable now. */
async function dropPartition(
  cluster: Cluster,
  shard: number,
  { table, group }: Partition,
): Promise<void> {
  try {
    await cluster.alter(shard, table, `DROP PARTITION ${group}`);
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
  }
}
