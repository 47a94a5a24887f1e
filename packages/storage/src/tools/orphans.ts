// Shards that belong to nothing: their retention policy or database was dropped, or their policy's
// id was reused. Earlier builds left them behind when a database was dropped while it was written
// to, and returned their rows under the names of other series.
import type { PolicyRef, ShardDescriptor } from '@tidemark/storage-api';

import { shardDirectory } from '../disk/paths.ts';
import type { WalRecord } from '../wal/wal-record.ts';
import type { KnownPolicy, OpenDirectory } from './directory.ts';

export type Orphan = {
  readonly shardId: number;
  /** The folder of the shard. There is none when its rows are only in the log. */
  readonly file: string;
  /** Files of the log that have rows of it. */
  readonly logFiles: readonly string[];
  readonly message: string;
};

/**
 * Orphans of the manifest and the log; without `policies`, as far as shards contradict each other.
 * A shard whose drop is in the log is none: the next start removes it.
 */
export function findOrphans(
  open: OpenDirectory,
  logged: LoggedShards,
  policies: readonly KnownPolicy[] | undefined,
): readonly Orphan[] {
  const names = new Set(open.manifest.databases.map(({ name }) => name));
  const shards = open.manifest.shards.map(({ descriptor }) => descriptor);
  const stored = new Set(shards.map(({ id }) => id));
  for (const { descriptor } of logged.shards.values()) {
    if (stored.has(descriptor.id)) continue;
    shards.push(descriptor);
    // The manifest does not name it before its first flush.
    names.add(descriptor.database);
  }
  const byId = policies && new Map(policies.map((policy) => [policy.id, policy]));
  const reasonOf = (shard: ShardDescriptor): string | undefined => {
    if (byId !== undefined) {
      const policy = byId.get(shard.policyId);
      if (policy === undefined) return 'its retention policy was dropped';
      if (!isOf(shard, policy)) return `its policy's id is that of ${nameOf(policy)}`;
    }
    if (!names.has(shard.database)) return 'its database was dropped';
    return contradiction(shard, shards);
  };
  return shards.flatMap((shard): Orphan[] => {
    const { id } = shard;
    const reason = logged.dropped.has(id) ? undefined : reasonOf(shard);
    if (reason === undefined) return [];
    const message = `shard ${id} of ${nameOf(shard)} is an orphan: ${reason}`;
    const logFiles = [...(logged.shards.get(id)?.files ?? [])];
    return [{ shardId: id, file: shardDirectory(open.directory, id), logFiles, message }];
  });
}

/** Ids ascend, so that of two that contradict each other the newer one is right. */
function contradiction(
  shard: ShardDescriptor,
  shards: readonly ShardDescriptor[],
): string | undefined {
  const { id, policyId } = shard;
  for (const other of shards) {
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

function isOf(shard: ShardDescriptor, { database, retentionPolicy }: PolicyName): boolean {
  return shard.database === database && shard.retentionPolicy === retentionPolicy;
}

function nameOf({ database, retentionPolicy }: PolicyName): string {
  return `\`${database}\`.\`${retentionPolicy}\``;
}

/** The shards that the log writes to and drops. */
export class LoggedShards {
  readonly shards = new Map<
    number,
    { readonly descriptor: ShardDescriptor; readonly files: Set<string> }
  >();
  readonly dropped = new Set<number>();

  /** Adds a record of a file. */
  add(record: WalRecord, file: string): void {
    if (record.kind === 'drop') for (const id of record.shardIds) this.dropped.add(id);
    if (record.kind !== 'rows') return;
    for (const { shard: descriptor } of record.parts) {
      const known = this.shards.get(descriptor.id);
      if (known === undefined)
        this.shards.set(descriptor.id, { descriptor, files: new Set([file]) });
      else known.files.add(file);
    }
  }
}
