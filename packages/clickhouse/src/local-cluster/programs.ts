// The programs of a local cluster, as Debian's packages `clickhouse-server` and `zookeeper` install
// them.
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { Unavailable } from '@tidemark/core';

export type ClusterPrograms = {
  readonly clickhouseServer: string;
  readonly java: string;
  /** Names in its manifest the libraries that it needs. */
  readonly zookeeperJar: string;
};

const ZOOKEEPER_JAR = '/usr/share/java/zookeeper.jar';

/** Servers are installed where a user's PATH may not look. */
const PACKAGED = ['/usr/sbin', '/usr/bin'];

/** Finds them. Throws `Unavailable` with what to install. */
export function findPrograms(environment: NodeJS.ProcessEnv): ClusterPrograms {
  const directories = [...(environment['PATH'] ?? '').split(delimiter), ...PACKAGED];
  const find = (name: string): string | undefined =>
    directories.map((directory) => join(directory, name)).find((path) => existsSync(path));
  const clickhouseServer = find('clickhouse-server');
  const java = find('java');
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
