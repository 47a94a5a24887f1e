// DIR/engine-cluster.json: what a local cluster of engines is made of and which processes run it.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf, NotFound, Unavailable } from '@tidemark/core';

export type InstanceFile = { readonly name: string; readonly port: number; readonly pid: number };

export type ClusterFile = {
  readonly version: 1;
  readonly coordinator: { readonly port: number; readonly pid: number };
  readonly instances: readonly InstanceFile[];
};

const NAME = 'engine-cluster.json';

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
      `there is no cluster of engines in ${directory}: make one with \`tidemark engine-cluster up --dir ${directory}\``,
    );
  return file;
}

/** Replaces the file in one step. */
export function writeClusterFile(directory: string, file: ClusterFile): void {
  const path = join(directory, NAME);
  writeFileSync(`${path}.new`, `${JSON.stringify(file, undefined, 2)}\n`);
  renameSync(`${path}.new`, path);
}
