// DIR/cluster.json: what a local cluster is made of and which processes run it.
/** One ClickHouse process: a replica of a shard, both counted from 1. */
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
