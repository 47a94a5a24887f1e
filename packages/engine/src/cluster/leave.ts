// `tidemark engine leave`: turns the copy of an instance into the directory of a single engine, or
// of the first instance of another cluster. It is the way to recover when the coordinator has lost
// data (docs/guide/engine-cluster.md).
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lockDirectory } from '@tidemark/process';
import { InvalidRequest } from '@tidemark/core';
import { Metadata } from '../store/metadata.ts';
import { METADATA_FILE } from '../store/metadata-file.ts';
import { Replica } from './replica.ts';

export type LeaveOptions = {
  /** Data directory of the instance, which is stopped. */
  readonly from: string;
  /** Its `secrets-key`, if it was set. */
  readonly fromKey: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/**
 * Resolves with the number of the last record of the cluster in the copy. Throws `InvalidRequest`
 * when the directory is not that of an instance.
 */
export async function leaveCluster(options: LeaveOptions): Promise<number> {
  const { from, fromKey: setting, environment } = options;
  if (!existsSync(join(from, METADATA_FILE)))
    throw new InvalidRequest(
      `there is no ${METADATA_FILE} in ${from}: it is the data_dir of an engine`,
    );
  const lock = await lockDirectory(from, { kind: 'engine', ownerFile: 'engine-owner.json' });
  try {
    const metadata = await Metadata.open(from, { setting, environment });
    try {
      return await Replica.release(metadata);
    } finally {
      await metadata.close();
    }
  } finally {
    await lock.release();
  }
}
