// Replicas: the servers of storage on a cluster.

/** A server of a cluster that holds points. */
export type ReplicaState = {
  /**
   * Servers of one shard hold the same points. `undefined` until the server has reported its shard.
   */
  readonly shard: number | undefined;
  readonly url: string;
  /** Whether it answers queries. */
  readonly isUp: boolean;
  readonly takesWrites: boolean;
  /** Why it does not answer, or takes no writes. */
  readonly reason?: string | undefined;
  /** Absent for a replica that is not available. */
  readonly load?: ReplicaLoad | undefined;
};

/** How much a replica holds, and what it still has to do. */
export type ReplicaLoad = {
  readonly diskBytes: number;
  /** Parts to fetch from other replicas, to merge, and to change. */
  readonly queueCount: number;
  /** How far it is behind the other replicas. */
  readonly delaySeconds: number;
};

export interface StorageReplicas {
  /** The servers that hold the points, and which of them answer. */
  replicas(): Promise<readonly ReplicaState[]>;
}
