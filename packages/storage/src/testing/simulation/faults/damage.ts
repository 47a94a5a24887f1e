// Flips a bit of the log after a kill: in the synced part, after the header.
import { FRAME_FILE_HEADER_BYTES } from '../../../disk/frames.ts';
import { walDirectory } from '../../../disk/paths.ts';
import { readManifest } from '../../../manifest/manifest-file.ts';
import { walFileId } from '../../../wal/wal.ts';
import type { SimulatedDisk } from '../../simulated-disk.ts';
import type { Scheduler } from '../scheduler.ts';
import { DIRECTORY } from '../workload/subject.ts';

export type Damaged = { readonly disk: SimulatedDisk; readonly path: string };

/**
 * Damages the last file of the log; `undefined` when nothing of it is needed. Files from before the
 * last start are skipped: a power cut may have taken their marks.
 */
export function damagedCopy(
  disk: SimulatedDisk,
  { scheduler, old }: { readonly scheduler: Scheduler; readonly old: readonly string[] },
): Damaged | undefined {
  const { walStart } = readManifest(disk, DIRECTORY).manifest;
  const name = disk
    .list(walDirectory(DIRECTORY))
    .filter((one) => (walFileId(one) ?? -1) >= walStart)
    .at(-1);
  if (name === undefined || old.includes(name)) return undefined;
  const path = `${walDirectory(DIRECTORY)}/${name}`;
  const length = disk.syncedBytes(path) - FRAME_FILE_HEADER_BYTES;
  if (length <= 0) return undefined;
  const copy = disk.copy();
  copy.bytes(path)[FRAME_FILE_HEADER_BYTES + scheduler.pick(length)]! ^= 1 << scheduler.pick(8);
  return { disk: copy, path };
}
