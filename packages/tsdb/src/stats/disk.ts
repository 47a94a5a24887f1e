// Free space on the disk of the data directory.
import { statfs } from 'node:fs/promises';

import { moduleOf } from './statistics.ts';
import type { StatisticsSource } from './statistics.ts';

/** Module `disk`. Empty if the file system cannot be queried. */
export function diskStatistics(directory: string): StatisticsSource {
  return async () => {
    const found = await statfs(directory).catch(() => undefined);
    if (found === undefined) return [];
    const { bavail, blocks, bsize } = found;
    return [moduleOf('disk', { freeBytes: bavail * bsize, totalBytes: blocks * bsize })];
  };
}
