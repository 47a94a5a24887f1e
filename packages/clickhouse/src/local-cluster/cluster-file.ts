// DIR/cluster.json: the processes of a local cluster.

/** A ClickHouse process, which is a replica of a shard; both are counted from 1. */
export type ClusterNode = {
  readonly name: string;
  readonly shard: number;
  readonly replica: number;
  readonly httpPort: number;
  readonly tcpPort: number;
  readonly interserverPort: number;
  readonly pid: number;
};

export type ClusterFile = {
  readonly version: 1;
  readonly zookeeper: { readonly port: number; readonly pid: number };
  readonly nodes: readonly ClusterNode[];
};

export const CLUSTER_FILE = 'cluster.json';
