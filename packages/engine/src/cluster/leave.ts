// `tidemark engine leave`: turns the copy of an instance into the directory of a single engine, or
// of the first instance of another cluster. It is the way to recover when the coordinator has lost
// data (docs/guide/engine-cluster.md).
import { Replica } from './replica.ts';
import { withStoppedStore } from './stopped-store.ts';

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
  return withStoppedStore(from, { setting, environment }, (store) => Replica.release(store));
}
