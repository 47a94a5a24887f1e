// A complete cluster on this machine, for trials and tests: one ZooKeeper, and a ClickHouse server
// for each replica of each shard.
import { connect } from 'node:net';
import { dirname } from 'node:path';

import { Conflict, InvalidRequest } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { freePorts, LocalCluster } from '@tidemark/process';
import type { LocalClusterKind, LocalClusterState, LocalProcess } from '@tidemark/process';

import { LIMITS } from '../limits.ts';
import { CLUSTER_FILE } from './cluster-file.ts';
import type { ClusterFile, ClusterNode } from './cluster-file.ts';
import { configurationOf, writeConfiguration, ZOOKEEPER } from './configuration.ts';
import { findPrograms } from './programs.ts';

export type ClusterOptions = {
  readonly directory: string;
  /** Shards of a new cluster, two by default. An existing cluster must have this many, if given. */
  readonly shards?: number | undefined;
  /** Replicas of each shard, likewise. */
  readonly replicas?: number | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
};

export type NodeStatus = {
  readonly node: string;
  readonly shard: number;
  readonly replica: number;
  readonly url: string;
  readonly pid: number;
  /** Whether it answers queries. */
  readonly isUp: boolean;
};

export type ClusterStatus = {
  readonly nodes: readonly NodeStatus[];
  readonly zookeeper: { readonly address: string; readonly pid: number; readonly isUp: boolean };
};

const DEFAULT_COUNT = 2;

const KIND: LocalClusterKind<ClusterFile> = {
  file: CLUSTER_FILE,
  what: 'cluster',
  verb: 'cluster',
  processes: ({ zookeeper, nodes }, directory) => [
    {
      name: ZOOKEEPER,
      pid: zookeeper.pid,
      configuration: configurationOf(directory, ZOOKEEPER),
      isUp: () => isZookeeperUp(zookeeper.port),
    },
    ...nodes.map((node): LocalProcess => {
      const configuration = configurationOf(directory, node.name);
      return { ...node, configuration, isUp: () => isNodeUp(node, dirname(configuration)) };
    }),
  ],
  withPids: ({ zookeeper, nodes, ...file }, [first = 0, ...pids]) => ({
    ...file,
    zookeeper: { ...zookeeper, pid: first },
    nodes: nodes.map((node, i) => ({ ...node, pid: pids[i] ?? 0 })),
  }),
};

/**
 * Starts the processes that do not run. Resolves when all of them answer (`LocalCluster.start`).
 */
export async function startCluster(options: ClusterOptions): Promise<ClusterStatus> {
  const { clickhouseServer, java, zookeeperJar } = findPrograms(options.environment);
  const cluster = new LocalCluster(KIND, options.directory);
  const { directory } = cluster;
  return statusOf(
    await cluster.start({
      clock: options.clock,
      make: () => newCluster(options),
      check: (file) => requireShape(file, options),
      configure: (file) => writeConfiguration(directory, file),
      command: ({ name, configuration }) =>
        name === ZOOKEEPER
          ? [java, ...zookeeperParameters(zookeeperJar, configuration)]
          : [clickhouseServer, `--config-file=${configuration}`],
    }),
  );
}

/** The processes, and which of them answer. */
export async function clusterStatus(directory: string): Promise<ClusterStatus> {
  return statusOf(await new LocalCluster(KIND, directory).state());
}

/** Stops all processes. Data and ports are kept for the next start. */
export function stopCluster(directory: string, clock: Clock): Promise<void> {
  return new LocalCluster(KIND, directory).stop(clock);
}

async function newCluster({ shards, replicas }: ClusterOptions): Promise<ClusterFile> {
  const counts = { shards: shards ?? DEFAULT_COUNT, replicas: replicas ?? DEFAULT_COUNT };
  const count = counts.shards * counts.replicas;
  const { value: most } = LIMITS.clusterNodes;
  const isPossible = Number.isInteger(count) && counts.shards > 0 && counts.replicas > 0;
  if (!isPossible || count > most)
    throw new InvalidRequest(
      `--shards times --replicas has to be from 1 to ${most}: ${counts.shards} × ${counts.replicas}`,
    );
  const [zookeeperPort = 0, ...ports] = await freePorts(1 + 3 * count);
  const nodes = Array.from({ length: count }, (_, i) => {
    const shard = Math.floor(i / counts.replicas) + 1;
    const replica = (i % counts.replicas) + 1;
    const [httpPort = 0, tcpPort = 0, interserverPort = 0] = ports.slice(3 * i, 3 * i + 3);
    const name = `shard${shard}-replica${replica}`;
    return { name, shard, replica, httpPort, tcpPort, interserverPort, pid: 0 };
  });
  return { version: 1, zookeeper: { port: zookeeperPort, pid: 0 }, nodes };
}

function requireShape(file: ClusterFile, { directory, shards, replicas }: ClusterOptions): void {
  const there = {
    shards: Math.max(...file.nodes.map(({ shard }) => shard)),
    replicas: Math.max(...file.nodes.map(({ replica }) => replica)),
  };
  if ((shards ?? there.shards) === there.shards && (replicas ?? there.replicas) === there.replicas)
    return;
  throw new Conflict(
    `the cluster in ${directory} has ${there.shards} shards of ${there.replicas} replicas: leave out --shards and --replicas, or take another --dir`,
  );
}

/** A small heap, and no sync of every change, which a trial does not need. */
function zookeeperParameters(jar: string, configuration: string): readonly string[] {
  const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
  const options = ['-Xmx96m', '-XX:+UseSerialGC', '-Dzookeeper.forceSync=no'];
  return [...options, '-cp', jar, main, configuration];
}

const urlOf = ({ httpPort }: ClusterNode): string => `http://127.0.0.1:${httpPort}`;

function statusOf({
  file: { nodes, zookeeper },
  isUp: [isZookeeper = false, ...answers],
}: LocalClusterState<ClusterFile>): ClusterStatus {
  return {
    nodes: nodes.map((node, i) => ({
      node: node.name,
      shard: node.shard,
      replica: node.replica,
      url: urlOf(node),
      pid: node.pid,
      isUp: answers[i] === true,
    })),
    zookeeper: {
      address: `127.0.0.1:${zookeeper.port}`,
      pid: zookeeper.pid,
      isUp: isZookeeper,
    },
  };
}

/** Whether the server answers queries, is the configured one, and is connected to ZooKeeper. */
async function isNodeUp(node: ClusterNode, directory: string): Promise<boolean> {
  const home = "SELECT substitution FROM system.macros WHERE macro = 'home'";
  const zookeeper = `SELECT count() > 0 FROM system.zookeeper WHERE path = '/'`;
  const query = encodeURIComponent(`SELECT (${zookeeper}) ? (${home}) : ''`);
  try {
    const answer = await fetch(`${urlOf(node)}/?query=${query}`, {
      signal: AbortSignal.timeout(LIMITS.probeMs.value),
    });
    return (await answer.text()) === `${directory}\n`;
  } catch {
    // Not listening means not up.
    return false;
  }
}

/**
 * Whether ZooKeeper accepts sessions, which is later than its answer to `ruok`. A ClickHouse server
 * that is refused at its start never retries, and exits at the first `ON CLUSTER` statement.
 */
function isZookeeperUp(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: LIMITS.probeMs.value });
    let answer = '';
    socket.on('connect', () => socket.write('srvr'));
    socket.on('data', (bytes) => (answer += bytes.toString('latin1')));
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => done(/^Mode: /m.test(answer)));
  });
}
