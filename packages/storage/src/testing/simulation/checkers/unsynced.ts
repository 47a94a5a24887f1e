// With `interval`, a power cut may take what was acknowledged since the last sync of the log. The
// remaining contents existed at some moment since then.
import type { ShardInfo } from '@tidemark/storage-api';

import { walDirectory } from '../../../disk/paths.ts';
import { endsInMark } from '../../../wal/log-check.ts';
import { walFileId, walPath } from '../../../wal/wal.ts';
import type { SimulatedDisk } from '../../simulated-disk.ts';
import type { Cell } from '../model/world.ts';
import { DIRECTORY } from '../workload/subject.ts';

/** Values by name that were possible at one moment. */
export type PossibleValues = ReadonlyMap<string, ReadonlySet<number>>;

const ABSENT: ReadonlySet<number> = new Set([0]);

/** What is wrong with rows read after a power cut; `undefined` when nothing is. */
export function checkUnsynced(
  seen: ReadonlyMap<string, number>,
  moments: readonly PossibleValues[],
): string | undefined {
  const names = new Set([...seen.keys(), ...moments.flatMap((one) => [...one.keys()])]);
  for (const name of names) {
    const value = seen.get(name) ?? 0;
    if (moments.some((one) => (one.get(name) ?? ABSENT).has(value))) continue;
    return `after a power cut ${name} is ${value}, which it never was`;
  }
  return undefined;
}

/** Whether a power cut takes no record of the log. It may take marks. */
export function isLogSynced(disk: SimulatedDisk): boolean {
  const directory = walDirectory(DIRECTORY);
  if (disk.hasUnsyncedNames(directory)) return false;
  const ids = disk.list(directory).flatMap((name) => walFileId(name) ?? []);
  return ids.every((id) => {
    const file = disk.open(walPath(directory, id), 'read');
    const from = disk.unsyncedFrom(file.path);
    const isSynced = from === file.size() || endsInMark(file, from);
    file.close();
    return isSynced;
  });
}

/** The cell under the policy of its shard, whose name may have been dropped. */
export function cellIn(shards: readonly ShardInfo[], cell: Cell): Cell {
  const { database, retentionPolicy, time } = cell;
  const shard = shards.find(
    (one) =>
      one.database === database &&
      one.retentionPolicy === retentionPolicy &&
      time >= one.start &&
      time < one.end,
  );
  return shard === undefined ? cell : { ...cell, policyId: shard.policyId };
}
