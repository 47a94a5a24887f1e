// DIR/engine-cluster.json: what a local cluster of engines is made of and which processes run it.
import { LocalClusterFile } from '@tidemark/process';

export type InstanceFile = { readonly name: string; readonly port: number; readonly pid: number };

export type ClusterFile = {
  readonly version: 1;
  readonly coordinator: { readonly port: number; readonly pid: number };
  readonly instances: readonly InstanceFile[];
};

export const CLUSTER_FILE = new LocalClusterFile<ClusterFile>({
  name: 'engine-cluster.json',
  what: 'cluster of engines',
  verb: 'engine-cluster',
});
