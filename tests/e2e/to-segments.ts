// Rows that a service has left in its log.
import { join } from 'node:path';

import { openStorage } from '@tidemark/storage';

/**
 * Writes the rows in the log of a stopped service to segments: a stop leaves few rows there.
 * Returns the directory of the storage.
 */
export async function toSegments(directory: string): Promise<string> {
  const storage = { directory: join(directory, 'tsdb', 'data') };
  const engine = await openStorage(storage);
  await engine.flush();
  await engine.close();
  return storage.directory;
}
