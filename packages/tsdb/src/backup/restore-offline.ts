// Restoring into the directory of a service that is not running.
import { join } from 'node:path';

import { systemClock } from '@tidemark/core';
import { Documents, LocalDocuments, makeDirectory, PRIVATE_DIRECTORY } from '@tidemark/process';
import { openStorageInline } from '@tidemark/storage';

import { Catalog } from '../catalog/catalog.ts';
import { DocumentFiles } from '../catalog/document-files.ts';
import { restoreBackup } from './restore.ts';
import type { RestoreOptions, RestoreOutcome } from './restore.ts';

/**
 * Adds the part of a full backup that `options` select to the service's directory (`<data>/tsdb`),
 * which may be new. Throws `Conflict` when a service runs there.
 */
export async function restoreOffline(
  directory: string,
  options: RestoreOptions,
  bytes: AsyncIterable<Uint8Array>,
): Promise<RestoreOutcome> {
  // The lock of the storage directory also guards the catalog beside it.
  const engine = await openStorageInline({
    directory: join(directory, 'data'),
    hasBackgroundWork: false,
  });
  try {
    const metaDirectory = join(directory, 'meta');
    makeDirectory(metaDirectory, { mode: PRIVATE_DIRECTORY });
    const catalog = await Catalog.open(metaDirectory);
    try {
      // A document that cannot be read still exists, and stays as it is.
      const files = new DocumentFiles(join(metaDirectory, 'documents'), () => undefined);
      const all = new Documents(new LocalDocuments(files), systemClock());
      const storage = { points: engine, maintenance: engine };
      return await restoreBackup({ catalog, storage, documents: { files, all } }, options, bytes);
    } finally {
      await catalog.close();
    }
  } finally {
    await engine.close();
  }
}
