// The programs of a local cluster, as Debian's packages `clickhouse-server` and `zookeeper` install
// them.
import { existsSync } from 'node:fs';

import { Unavailable } from '@tidemark/core';
import { findProgram } from '@tidemark/process';

export type ClusterPrograms = {
  readonly clickhouseServer: string;
  readonly java: string;
  /** Names in its manifest the libraries that it needs. */
  readonly zookeeperJar: string;
};

const ZOOKEEPER_JAR = '/usr/share/java/zookeeper.jar';

/** Finds them. Throws `Unavailable` with what to install. */
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
