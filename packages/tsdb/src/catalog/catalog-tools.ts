// The catalog of a database that is not running, for `tidemark tsdb verify` and `repair`.
import { join } from 'node:path';

import { Corruption } from '@tidemark/core';
import { lockStorage } from '@tidemark/storage';
import type { KnownPolicy } from '@tidemark/storage';
import type { Damage } from '@tidemark/storage-api';

import { catalogPath, readCatalog, replaceCatalog } from './catalog-file.ts';
import type { CatalogState } from './model.ts';

export type CatalogReport = {
  /** Also empty when there is no catalog yet. */
  readonly damage: readonly Damage[];
  /** One copy was damaged, and was written again from the other. */
  readonly isMended: boolean;
  /** All retention policies; `undefined` when there is no catalog, or none that can be read. */
  readonly policies: readonly KnownPolicy[] | undefined;
};

/**
 * Checks whether both copies of the catalog, and of all changes in its journal, can be read; one
 * suffices to start. `mends` rewrites a damaged one. Throws `Conflict` when a server owns the
 * directory.
 */
export async function checkCatalog(
  directory: string,
  { mends }: { readonly mends: boolean },
): Promise<CatalogReport> {
  // The lock of the storage directory also guards the catalog beside it.
  const lock = await lockStorage(join(directory, 'data'));
  const folder = join(directory, 'meta');
  const file = catalogPath(folder);
  try {
    const found = readCatalog(folder);
    const policies = found && policiesOf(found.state);
    if (found?.hasDamagedCopy !== true) return { damage: [], isMended: false, policies };
    if (mends) {
      await replaceCatalog(folder, found.state);
      return { damage: [], isMended: true, policies };
    }
    const message = 'one copy of the catalog, or of a change in its journal, is damaged';
    return { damage: [{ file, offset: 0, message }], isMended: false, policies };
  } catch (error) {
    if (!(error instanceof Corruption)) throw error;
    const { offset, message } = error;
    return {
      damage: [{ file: error.file, offset, message }],
      isMended: false,
      policies: undefined,
    };
  } finally {
    await lock.release();
  }
}

function policiesOf({ databases }: CatalogState): readonly KnownPolicy[] {
  return [...databases.values()].flatMap(({ name: database, policies }) =>
    policies.map(({ id, name }) => ({ id, database, retentionPolicy: name })),
  );
}
