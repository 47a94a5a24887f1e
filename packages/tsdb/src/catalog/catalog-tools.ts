// The catalog of a database that is not running, for `tidemark tsdb verify` and `repair`.
import { join } from 'node:path';

import { Corruption } from '@tidemark/core';
import { lockStorage } from '@tidemark/storage';
import type { Damage } from '@tidemark/storage';

import { catalogPath, readCatalogFile, writeCatalogFile } from './catalog.ts';

export type CatalogReport = {
  /** Empty also when there is no catalog yet. */
  readonly damage: readonly Damage[];
  /** One copy was damaged, and was written anew from the other. */
  readonly isMended: boolean;
};

/**
 * Looks whether both copies of the catalog in the directory of a database can be read; one suffices
 * to start. `mends` writes a damaged one anew. Throws `Conflict` when a server owns the directory.
 */
export async function checkCatalog(
  directory: string,
  { mends }: { readonly mends: boolean },
): Promise<CatalogReport> {
  // The lock of the storage directory guards the catalog beside it too.
  const lock = await lockStorage(join(directory, 'data'));
  const file = catalogPath(join(directory, 'meta'));
  try {
    const found = readCatalogFile(file);
    if (found?.hasDamagedCopy !== true) return { damage: [], isMended: false };
    if (mends) {
      await writeCatalogFile(file, found.state);
      return { damage: [], isMended: true };
    }
    const message = 'one of the two copies of the catalog is damaged';
    return { damage: [{ file, offset: 0, message }], isMended: false };
  } catch (error) {
    if (!(error instanceof Corruption)) throw error;
    const { offset, message } = error;
    return { damage: [{ file, offset, message }], isMended: false };
  } finally {
    await lock.release();
  }
}
