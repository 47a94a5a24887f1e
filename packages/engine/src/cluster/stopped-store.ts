// The store of an engine that is stopped, for tools that move what it has.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidRequest } from '@tidemark/core';
import { lockDirectory } from '@tidemark/process';

import { METADATA_FILE } from '../store/metadata-file.ts';
import { Metadata } from '../store/metadata.ts';
import type { KeyOptions } from '../store/metadata.ts';

/**
 * Opens the store in a data directory for some work, whose result it resolves with. Throws
 * `InvalidRequest` when the directory has none, and `Conflict` while an engine uses it.
 */
export async function withStoppedStore<T>(
  directory: string,
  key: KeyOptions,
  work: (store: Metadata) => Promise<T>,
): Promise<T> {
  if (!existsSync(join(directory, METADATA_FILE)))
    throw new InvalidRequest(
      `there is no ${METADATA_FILE} in ${directory}: it is the data_dir of an engine`,
    );
  const lock = await lockDirectory(directory, { kind: 'engine', ownerFile: 'engine-owner.json' });
  try {
    const store = await Metadata.open(directory, key);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  } finally {
    await lock.release();
  }
}
