// The storage that a service runs on.
import type { StorageEngine, StorageMaintenance } from './maintenance.ts';
import type { PointStorage } from './point-storage.ts';
import type { StorageReplicas } from './replicas.ts';

export type Storage = {
  readonly points: PointStorage;
  /** Absent where a cluster has the data. */
  readonly maintenance?: StorageMaintenance | undefined;
  /** Absent where the data is in local files. */
  readonly replicas?: StorageReplicas | undefined;
  /**
   * A second, empty engine in the thread of the first, which keeps everything in memory and
   * discards it when it is closed. It is for warming up: code runs on it until it is compiled. One
   * at a time. Absent where no thread of this process has the points.
   */
  readonly openRehearsal?: (() => Promise<StorageEngine>) | undefined;
};
