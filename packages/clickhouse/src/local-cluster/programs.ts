// Finds the programs of a local cluster where Debian's packages `clickhouse-server` and `zookeeper`
// install them.
import { existsSync } from 'node:fs';

import { Unavailable } from '@tidemark/core';
import { findProgram } from '@tidemark/process';

export type ClusterPrograms = {
  readonly clickhouseServer: string;
  readonly java: string;
  /** Its manifest names the libraries that it needs. */
  readonly zookeeperJar: string;
};

const ZOOKEEPER_JAR = '/usr/share/java/zookeeper.jar';

/** Throws `Unavailable`, which names the packages to install, when a program is missing. */
export function findPrograms(environment: NodeJS.ProcessEnv): ClusterPrograms {
  const clickhouseServer = findProgram('clickhouse-server', environment);
  const java = findProgram('java', environment);
  const isComplete = java !== undefined && existsSync(ZOOKEEPER_JAR);
  if (clickhouseServer !== undefined && isComplete)
    return { clickhouseServer, java, zookeeperJar: ZOOKEEPER_JAR };
  const missing = [
    ...(clickhouseServer === undefined ? ['clickhouse-server'] : []),
    ...(isComplete ? [] : ['zookeeper']),
  ];
  throw new Unavailable(
    `a local cluster needs programs that are not installed: apt-get install ${missing.join(' ')}`,
  );
}
