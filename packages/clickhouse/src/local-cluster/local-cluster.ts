// A complete cluster on this machine, for trying and for tests: one ZooKeeper, and a ClickHouse for
// each replica of each shard. Its processes outlive the command; everything they keep is below one
// directory.
import { connect } from 'node:net';
import { dirname, join, resolve } from 'node:path';

import { Conflict, InvalidRequest, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { freePorts, isRunning, makeDirectory, startDetached, stopProcess } from '@tidemark/process';

import { LIMITS } from '../limits.ts';
import { CLUSTER_FILE } from './cluster-file.ts';
import type { ClusterFile, ClusterNode } from './cluster-file.ts';
import { configurationOf, writeConfiguration } from './configuration.ts';
import { findPrograms } from './programs.ts';
import type { ClusterPrograms } from './programs.ts';

export type ClusterOptions = {
  readonly directory: string;
  /** Of a new cluster; one that is there must have as many. `undefined`: two, or what is there. */
  readonly shards?: number | undefined;
  /** Of each shard; likewise. */
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

/** Ports of a new cluster that were free when they were chosen may be taken when it listens. */
const PORTS_TRIED = 3;

/**
 * Starts what does not run, and resolves when all of it answers. Ports and data of an earlier start
 * are kept. When it fails, what it has started is ended again.
 */
export async function startCluster(options: ClusterOptions): Promise<ClusterStatus> {
  const directory = resolve(options.directory);
  const programs = findPrograms(options.environment);
  makeDirectory(directory, { setting: '--dir', mode: 0o700 });
  const known = CLUSTER_FILE.read(directory);
  for (let tried = 1; ; tried++) {
    const file = known ?? (await newCluster(options));
    requireShape(file, options);
    try {
      return await startProcesses({ ...options, directory }, programs, file);
    } catch (error) {
      const isLast = known !== undefined || tried === PORTS_TRIED;
      if (isLast || !(error instanceof EndedEarly)) throw error;
    }
  }
}

/** A process that ended before it answered. */
class EndedEarly extends Unavailable {}

async function startProcesses(
  options: ClusterOptions,
  programs: ClusterPrograms,
  planned: ClusterFile,
): Promise<ClusterStatus> {
  const { directory } = options;
  let file = planned;
  writeConfiguration(directory, file);
  const started: { readonly pid: number; readonly configuration: string }[] = [];
  const start = async (
    name: string,
    pid: number,
    command: (configuration: string) => readonly [string, readonly string[]],
  ): Promise<number> => {
    const configuration = configurationOf(directory, name);
    if (isRunning(pid, configuration)) return pid;
    const [program, parameters] = command(configuration);
    const own = await startDetached(program, parameters, configuration);
    started.push({ pid: own, configuration });
    return own;
  };
  try {
    const zookeeperPid = await start('zookeeper', file.zookeeper.pid, (configuration) => [
      programs.java,
      zookeeperParameters(programs.zookeeperJar, configuration),
    ]);
    file = { ...file, zookeeper: { ...file.zookeeper, pid: zookeeperPid } };
    await whenUp(options.clock, () => isZookeeperUp(file.zookeeper.port), {
      name: 'zookeeper',
      isAlive: () => isRunning(zookeeperPid, configurationOf(directory, 'zookeeper')),
      directory,
    });
    const nodes: ClusterNode[] = [];
    for (const node of file.nodes) {
      const pid = await start(node.name, node.pid, (configuration) => [
        programs.clickhouseServer,
        [`--config-file=${configuration}`],
      ]);
      nodes.push({ ...node, pid });
    }
    file = { ...file, nodes };
    CLUSTER_FILE.write(directory, file);
    await Promise.all(
      nodes.map((node) =>
        whenUp(options.clock, () => isNodeUp(node, directory), {
          name: node.name,
          isAlive: () => isRunning(node.pid, configurationOf(directory, node.name)),
          directory,
        }),
      ),
    );
  } catch (error) {
    for (const { pid, configuration } of started.reverse())
      await stopProcess(pid, configuration, stopping(options.clock));
    throw error;
  }
  return statusOf(directory, file);
}

/** Which processes there are and which of them answer. */
export function clusterStatus(directory: string): Promise<ClusterStatus> {
  const home = resolve(directory);
  return statusOf(home, CLUSTER_FILE.require(home));
}

/** Ends every process. Data and ports stay for the next start. */
export async function stopCluster(directory: string, clock: Clock): Promise<void> {
  const home = resolve(directory);
  const { nodes, zookeeper } = CLUSTER_FILE.require(home);
  await Promise.all(
    nodes.map(({ pid, name }) => stopProcess(pid, configurationOf(home, name), stopping(clock))),
  );
  await stopProcess(zookeeper.pid, configurationOf(home, 'zookeeper'), stopping(clock));
}

const stopping = (clock: Clock): Parameters<typeof stopProcess>[2] => ({
  clock,
  deadlineMs: LIMITS.stopMs.value,
});

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

/** A heap for a handful of processes; and no sync of each change, which nobody needs to try. */
function zookeeperParameters(jar: string, configuration: string): readonly string[] {
  const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
  const options = ['-Xmx96m', '-XX:+UseSerialGC', '-Dzookeeper.forceSync=no'];
  return [...options, '-cp', jar, main, configuration];
}

async function whenUp(
  clock: Clock,
  isUp: () => Promise<boolean>,
  process: { readonly name: string; readonly isAlive: () => boolean; readonly directory: string },
): Promise<void> {
  const until = clock.monotonicMs() + LIMITS.startMs.value;
  const { name, isAlive, directory } = process;
  while (!(await isUp())) {
    const logs = join(directory, name);
    if (!isAlive()) throw new EndedEarly(`${name} has ended while it started: see ${logs}`);
    if (clock.monotonicMs() > until)
      throw new Unavailable(
        `${name} does not answer after ${LIMITS.startMs.value} ms: see ${logs}`,
      );
    await clock.sleep(100);
  }
}

const urlOf = ({ httpPort }: ClusterNode): string => `http://127.0.0.1:${httpPort}`;

async function statusOf(
  directory: string,
  { nodes, zookeeper }: ClusterFile,
): Promise<ClusterStatus> {
  const [isUp, ...answers] = await Promise.all([
    isZookeeperUp(zookeeper.port),
    ...nodes.map((node) => isNodeUp(node, directory)),
  ]);
  return {
    nodes: nodes.map((node, i) => ({
      node: node.name,
      shard: node.shard,
      replica: node.replica,
      url: urlOf(node),
      pid: node.pid,
      isUp: answers[i] === true,
    })),
    zookeeper: { address: `127.0.0.1:${zookeeper.port}`, pid: zookeeper.pid, isUp },
  };
}

/** Whether it answers queries, is the one that was configured, and has found ZooKeeper. */
async function isNodeUp(node: ClusterNode, directory: string): Promise<boolean> {
  const home = "SELECT substitution FROM system.macros WHERE macro = 'home'";
  const zookeeper = `SELECT count() > 0 FROM system.zookeeper WHERE path = '/'`;
  const query = encodeURIComponent(`SELECT (${zookeeper}) ? (${home}) : ''`);
  try {
    const answer = await fetch(`${urlOf(node)}/?query=${query}`, {
      signal: AbortSignal.timeout(LIMITS.probeMs.value),
    });
    return (await answer.text()) === `${dirname(configurationOf(directory, node.name))}\n`;
  } catch {
    // It does not listen yet, or not any more: that is the question.
    return false;
  }
}

/**
 * Whether it takes sessions. It answers `ruok` before it does; a ClickHouse that is refused at its
 * start never tries again and ends at the first statement `ON CLUSTER`.
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
