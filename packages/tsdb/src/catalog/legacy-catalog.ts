// Reads catalogs of the first version, an LMDB folder, once; they are then written in the current
// format.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import type { RootDatabase } from 'lmdb';

import type { ApiToken, CatalogState, Database, User } from './model.ts';

/** `undefined` when the folder holds no such catalog. */
export async function readLegacyCatalog(path: string): Promise<CatalogState | undefined> {
  if (!existsSync(join(path, 'data.mdb'))) return undefined;
  // Few have one, and the library is native code: it is loaded for those only.
  const { open } = await import('lmdb');
  const store = open({ path, readOnly: true });
  try {
    const meta: { readonly nextId: number } | undefined = store.get('meta');
    if (meta === undefined) return undefined;
    return {
      databases: readRecords<Database>(store, 'database'),
      users: readRecords<User>(store, 'user'),
      tokens: readRecords<ApiToken>(store, 'token'),
      nextId: meta.nextId,
    };
  } finally {
    await store.close();
  }
}

function readRecords<T extends { readonly id: number; readonly name: string }>(
  store: RootDatabase,
  kind: string,
): ReadonlyMap<string, T> {
  const records: T[] = [];
  for (const { value } of store.getRange({ start: [kind, 0], end: [kind, Infinity] })) {
    records.push(value as T);
  }
  records.sort((a, b) => a.id - b.id);
  return new Map(records.map((record) => [record.name, record]));
}
