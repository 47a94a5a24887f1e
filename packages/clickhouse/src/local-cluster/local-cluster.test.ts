// The conditions under which a cluster counts as running.
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';

import { makeDirectory, removeDirectory } from '@tidemark/testkit';
import { afterEach, expect, test } from 'vitest';

import { CLUSTER_FILE } from './cluster-file.ts';
import type { ClusterFile } from './cluster-file.ts';
import { clusterStatus } from './local-cluster.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

/** The status of a cluster whose ZooKeeper and only ClickHouse answer like this. */
async function statusWith(ofZookeeper: string, ofClickHouse: (directory: string) => string) {
  const directory = await makeDirectory();
  closers.push(() => removeDirectory(directory));
  const zookeeper = createServer((socket) => socket.once('data', () => socket.end(ofZookeeper)));
  const clickhouse = createHttpServer((_, response) => response.end(ofClickHouse(directory)));
  const [port, httpPort] = [await portOf(zookeeper), await portOf(clickhouse)];
  const node = { name: 'shard1-replica1', shard: 1, replica: 1, pid: 0 };
  const file: ClusterFile = {
    version: 1,
    zookeeper: { port, pid: 0 },
    nodes: [{ ...node, httpPort, tcpPort: 0, interserverPort: 0 }],
  };
  writeFileSync(join(directory, CLUSTER_FILE), JSON.stringify(file));
  const { nodes, zookeeper: keeper } = await clusterStatus(directory);
  return { clickhouse: nodes[0]?.isUp, zookeeper: keeper.isUp };
}

test('a cluster that is configured here and serves is up', async () => {
  const serving = 'Zookeeper version: 3.8.0\nMode: standalone\nNode count: 5\n';
  expect(await statusWith(serving, (directory) => `${directory}/shard1-replica1\n`)).toEqual({
    clickhouse: true,
    zookeeper: true,
  });
});

test('a ZooKeeper that takes no sessions yet and the ClickHouse of another cluster are not', async () => {
  const starting = 'This ZooKeeper instance is not currently serving requests\n';
  expect(await statusWith(starting, () => '/elsewhere/shard1-replica1\n')).toEqual({
    clickhouse: false,
    zookeeper: false,
  });
});
