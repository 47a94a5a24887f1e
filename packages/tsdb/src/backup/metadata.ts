// The metadata of a backup: databases with their policies, and in a full backup users and tokens.
import { Corruption } from '@tidemark/core';

import { parseCatalog, printCatalog } from '../catalog/catalog-record.ts';
import type { CatalogEntries } from '../catalog/catalog-record.ts';
import type { CatalogState } from '../catalog/model.ts';

/** `databases`: only these, without users; `undefined`: everything. */
export function encodeMetadata(
  state: CatalogState,
  databases: readonly string[] | undefined,
): string {
  const isWanted = (name: string): boolean => databases?.includes(name) ?? true;
  return printCatalog({
    databases: [...state.databases.values()].filter(({ name }) => isWanted(name)),
    users: databases === undefined ? [...state.users.values()] : [],
    tokens: databases === undefined ? [...state.tokens.values()] : [],
  });
}

/** Throws `Corruption` for anything that `encodeMetadata` did not write. */
export function decodeMetadata(text: string | undefined): CatalogEntries {
  const entries = text === undefined ? undefined : parseCatalog(text);
  if (entries !== undefined) return entries;
  const what =
    text === undefined
      ? 'it does not contain a list of its databases and policies'
      : 'its list of databases is invalid';
  throw notRestorable(what);
}

/** The error of a backup whose bytes are sound but not valid for this service. */
export function notRestorable(what: string): Corruption {
  return new Corruption(`backup cannot be restored: ${what}`, { file: 'backup', offset: 0 });
}
