// DIR/cluster.json: what a local cluster is made of and which processes run it.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf, NotFound, Unavailable } from '@tidemark/core';

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

const NAME = 'cluster.json';

/** `undefined` when there is no cluster in the directory. */
export function readClusterFile(directory: string): ClusterFile | undefined {
  const path = join(directory, NAME);
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ClusterFile;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Unavailable(`${path} can not be read: ${messageOf(error)}`, { cause: error });
  }
}

/** The file of a cluster that must be there. */
export function requireClusterFile(directory: string): ClusterFile {
  const file = readClusterFile(directory);
  if (file === undefined)
    throw new NotFound(
      `there is no cluster in ${directory}: make one with \`tidemark cluster up --dir ${directory}\``,
    );
  return file;
}

/** Replaces the file in one step. */
export function writeClusterFile(directory: string, file: ClusterFile): void {
  const path = join(directory, NAME);
  writeFileSync(`${path}.new`, `${JSON.stringify(file, undefined, 2)}\n`);
  renameSync(`${path}.new`, path);
}
