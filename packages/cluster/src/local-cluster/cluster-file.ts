// DIR/engine-cluster.json: the processes of a local cluster of engines.
export type InstanceFile = { readonly name: string; readonly port: number; readonly pid: number };

export type ClusterFile = {
  readonly version: 1;
  readonly coordinator: { readonly port: number; readonly pid: number };
  readonly instances: readonly InstanceFile[];
};

export const CLUSTER_FILE = 'engine-cluster.json';
