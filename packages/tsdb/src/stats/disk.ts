// How much room there is where the data lies.
import { statfs } from 'node:fs/promises';

import { moduleOf } from './statistics.ts';
import type { StatisticsSource } from './statistics.ts';

/** Module `disk`. A directory that can not be asked about says nothing. */
export function diskStatistics(directory: string): StatisticsSource {
  return async () => {
    const found = await statfs(directory).catch(() => undefined);
    if (found === undefined) return [];
    const { bavail, blocks, bsize } = found;
    return [moduleOf('disk', { freeBytes: bavail * bsize, totalBytes: blocks * bsize })];
  };
}
