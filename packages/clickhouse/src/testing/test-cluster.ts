// A real cluster for the tests of one file.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll } from 'vitest';

import { openClickHouse, startCluster, stopCluster } from '../index.ts';
import type { ClickHouseOptions, ClickHouseStorage, ClusterStatus } from '../index.ts';
import { TEST_SETTINGS } from './test-storage.ts';

/** Programs of a cluster. */
export const CLUSTER_PROGRAMS = [
  'clickhouse-server',
  '/usr/share/zookeeper/bin/zkServer.sh',
] as const;

export type TestCluster = {
  /** The directory with a folder for each process. */
  readonly directory: string;
  readonly status: ClusterStatus;
  readonly urls: readonly string[];
  open(options?: Partial<ClickHouseOptions>): Promise<ClickHouseStorage>;
  /** Starts the processes that do not run. */
  mend(): Promise<void>;
};

/** Starts a cluster for the tests of a `describe`; call it there. */
export function useCluster(shape: {
  readonly shards: number;
  readonly replicas: number;
}): TestCluster {
  const { clock } = TEST_SETTINGS;
  let directory: string;
  let status: ClusterStatus;
  const mend = async (): Promise<void> => {
    status = await startCluster({ directory, ...shape, environment: process.env, clock });
  };
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'tidemark-cluster-'));
    await mend();
  });
  afterAll(async () => {
    await stopCluster(directory, clock);
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    get directory() {
      return directory;
    },
    get status() {
      return status;
    },
    get urls() {
      return status.nodes.map(({ url }) => url);
    },
    open(options) {
      return openClickHouse({ ...TEST_SETTINGS, urls: this.urls, ...options });
    },
    mend,
  };
}
