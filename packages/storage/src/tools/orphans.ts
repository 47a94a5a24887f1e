// Shards that belong to nothing: their retention policy or database was dropped, or their policy's
// id was given to another one. Earlier builds left them behind when a database was dropped while it
// was written to, and answered their rows under the names of other series.
import { DecodeError } from '../columns/bytes.ts';
import { shardDirectory } from '../disk/paths.ts';
import type { ManifestShard } from '../manifest/manifest.ts';
import type { PolicyRef } from '../storage-engine.ts';
import { decodeDropped } from '../wal/wal-record.ts';
import { openLog } from './directory.ts';
import type { KnownPolicy, OpenDirectory } from './directory.ts';

export type Orphan = {
  readonly shardId: number;
  /** The folder of the shard. */
  readonly file: string;
  readonly message: string;
};

/**
 * Orphans of the manifest; without `policies`, as far as shards contradict each other. A shard
 * whose drop is in the log is none: the next start removes it.
 */
export function findOrphans(
  open: OpenDirectory,
  policies: readonly KnownPolicy[] | undefined,
): readonly Orphan[] {
  const { shards, databases } = open.manifest;
  const names = new Set(databases.map(({ name }) => name));
  const byId = policies && new Map(policies.map((policy) => [policy.id, policy]));
  const reasonOf = (shard: ManifestShard): string | undefined => {
    const { database } = shard.descriptor;
    if (byId !== undefined) {
      const policy = byId.get(shard.descriptor.policyId);
      if (policy === undefined) return 'its retention policy was dropped';
      if (!isOf(shard, policy)) return `its policy's id is that of ${nameOf(policy)}`;
    }
    if (!names.has(database)) return 'its database was dropped';
    return contradiction(shard, shards);
  };
  const orphans = shards.flatMap((shard): Orphan[] => {
    const reason = reasonOf(shard);
    if (reason === undefined) return [];
    const { id } = shard.descriptor;
    const message = `shard ${id} of ${nameOf(shard.descriptor)} is an orphan: ${reason}`;
    return [{ shardId: id, file: shardDirectory(open.directory, id), message }];
  });
  if (orphans.length === 0) return orphans;
  const dropped = droppedByLog(open);
  return orphans.filter(({ shardId }) => !dropped.has(shardId));
}

/** Ids ascend, so that of two that contradict each other the newer one is right. */
function contradiction(shard: ManifestShard, shards: readonly ManifestShard[]): string | undefined {
  const { id, policyId } = shard.descriptor;
  for (const { descriptor: other } of shards) {
    const isSameName = isOf(shard, other);
    if (isSameName && other.policyId > policyId) {
      return `a retention policy of the same name came later, with shard ${other.id}`;
    }
    if (!isSameName && other.policyId === policyId && other.id > id) {
      return `its policy's id is that of ${nameOf(other)}, with shard ${other.id}`;
    }
  }
  return undefined;
}

type PolicyName = Pick<PolicyRef, 'database' | 'retentionPolicy'>;

function isOf({ descriptor }: ManifestShard, { database, retentionPolicy }: PolicyName): boolean {
  return descriptor.database === database && descriptor.retentionPolicy === retentionPolicy;
}

function nameOf({ database, retentionPolicy }: PolicyName): string {
  return `\`${database}\`.\`${retentionPolicy}\``;
}

function droppedByLog(open: OpenDirectory): ReadonlySet<number> {
  const dropped = new Set<number>();
  for (const { scan } of openLog(open).files) {
    for (const payload of scan?.payloads ?? []) {
      try {
        for (const id of decodeDropped(payload)) dropped.add(id);
      } catch (error) {
        // It is reported as damage of the log.
        if (!(error instanceof DecodeError)) throw error;
      }
    }
  }
  return dropped;
}
