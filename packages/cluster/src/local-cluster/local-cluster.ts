// Several engines and their coordinator on this machine, for experiments and tests.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Conflict, InvalidRequest, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { findProgram, freePorts, LocalCluster } from '@tidemark/process';
import type { LocalClusterKind, LocalClusterState, LocalProcess } from '@tidemark/process';

import { NatsCoordinator } from '../nats-coordinator.ts';
import { LIMITS } from '../limits.ts';
import { CLUSTER_FILE } from './cluster-file.ts';
import type { ClusterFile } from './cluster-file.ts';
import { natsConfiguration, natsVersion, syncsAlways } from './nats-configuration.ts';

export type LocalClusterOptions = {
  readonly directory: string;
  /**
   * Engines of a new cluster, three by default. An existing cluster must have this many, if given.
   */
  readonly instances?: number | undefined;
  /** The command that starts an engine: a program and its first parameters. */
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
};

export type InstanceStatus = {
  readonly instance: string;
  readonly url: string;
  readonly pid: number;
  /** Whether the engine answers. */
  readonly isUp: boolean;
  readonly isLeader: boolean;
  /** Tasks that the engine runs; each part of a split task counts. */
  readonly tasks: number;
  /** How many of these are parts of split tasks. */
  readonly parts: number;
};

export type LocalClusterStatus = {
  readonly coordinator: { readonly url: string; readonly pid: number; readonly isUp: boolean };
  readonly instances: readonly InstanceStatus[];
};

const DEFAULT_COUNT = 3;
const COORDINATOR = 'coordinator';

const KIND: LocalClusterKind<ClusterFile> = {
  file: CLUSTER_FILE,
  what: 'cluster of engines',
  verb: 'engine-cluster',
  processes: ({ coordinator, instances }, directory) => [
    {
      name: COORDINATOR,
      pid: coordinator.pid,
      configuration: configurationOf(directory, COORDINATOR),
      isUp: () => isCoordinatorUp(coordinator.port),
    },
    ...instances.map(({ name, port, pid }): LocalProcess => ({
      name,
      pid,
      configuration: configurationOf(directory, name),
      isUp: () => isAnswering(port),
    })),
  ],
  withPids: ({ coordinator, instances, ...file }, [first = 0, ...pids]) => ({
    ...file,
    coordinator: { ...coordinator, pid: first },
    instances: instances.map((instance, i) => ({ ...instance, pid: pids[i] ?? 0 })),
  }),
};

/**
 * Starts the processes that do not run. Resolves when all of them answer (`LocalCluster.start`).
 */
export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalClusterStatus> {
  const program = findProgram('nats-server', options.environment);
  if (program === undefined)
    throw new Unavailable(
      'a local cluster of engines needs a program that is not installed: apt-get install nats-server',
    );
  const cluster = new LocalCluster(KIND, options.directory);
  const { directory } = cluster;
  return statusOf(
    await cluster.start({
      clock: options.clock,
      make: () => newCluster(options),
      check: (file) => requireShape(file, options),
      configure: (file) => writeConfiguration(directory, program, file),
      command: ({ name, configuration }) =>
        name === COORDINATOR
          ? [program, '-c', configuration]
          : [...options.command, 'engine', '--config', configuration],
    }),
  );
}

/** The processes, which of them answer, and what they run. */
export async function localClusterStatus(directory: string): Promise<LocalClusterStatus> {
  return statusOf(await new LocalCluster(KIND, directory).state());
}

/** Stops all processes. Data and ports are kept. */
export function stopLocalCluster(directory: string, clock: Clock): Promise<void> {
  return new LocalCluster(KIND, directory).stop(clock);
}

async function newCluster({
  instances = DEFAULT_COUNT,
}: LocalClusterOptions): Promise<ClusterFile> {
  const { value: most } = LIMITS.instances;
  if (!Number.isInteger(instances) || instances < 1 || instances > most)
    throw new InvalidRequest(`--instances has to be from 1 to ${most}: ${instances}`);
  const [port = 0, ...ports] = await freePorts(1 + instances);
  return {
    version: 1,
    coordinator: { port, pid: 0 },
    instances: ports.map((own, i) => ({ name: `instance-${i + 1}`, port: own, pid: 0 })),
  };
}

function requireShape(file: ClusterFile, { directory, instances }: LocalClusterOptions): void {
  if ((instances ?? file.instances.length) === file.instances.length) return;
  throw new Conflict(
    `the cluster in ${directory} has ${file.instances.length} instances: leave out --instances, or take another --dir`,
  );
}

function configurationOf(directory: string, name: string): string {
  return join(directory, name, name === COORDINATOR ? 'nats.conf' : 'engine.toml');
}

function writeConfiguration(
  directory: string,
  program: string,
  { coordinator, instances }: ClusterFile,
): void {
  const key = join(directory, 'engine.key');
  if (!existsSync(key))
    writeFileSync(key, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  const home = join(directory, COORDINATOR);
  mkdirSync(home, { recursive: true });
  const { port: own } = coordinator;
  const version = natsVersion(program);
  writeFileSync(
    configurationOf(directory, COORDINATOR),
    natsConfiguration({ port: own, directory: home, version }),
  );
  for (const { name, port } of instances) {
    mkdirSync(join(directory, name), { recursive: true });
    const path = configurationOf(directory, name);
    // Keeps what an operator has added.
    if (existsSync(path)) continue;
    const lines = [
      `data_dir = ${JSON.stringify(join(directory, name, 'data'))}`,
      `secrets-key = ${JSON.stringify(key)}`,
      '',
      '[http]',
      `bind-address = "127.0.0.1:${port}"`,
      '',
      '[cluster]',
      'enabled = true',
      `coordinator = ["nats://127.0.0.1:${coordinator.port}"]`,
      ...(syncsAlways(version) ? ['sync-interval = "0s"'] : []),
      '',
    ];
    writeFileSync(path, lines.join('\n'));
  }
}

const urlOf = (port: number): string => `http://127.0.0.1:${port}`;
const coordinatorUrl = (port: number): string => `nats://127.0.0.1:${port}`;

async function isCoordinatorUp(port: number): Promise<boolean> {
  try {
    await NatsCoordinator.check(coordinatorUrl(port));
    return true;
  } catch {
    // Not up yet, or not any more.
    return false;
  }
}

async function isAnswering(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(LIMITS.requestMs.value);
    return (await fetch(`${urlOf(port)}/health`, { signal })).ok;
  } catch {
    // Not up yet, or not any more.
    return false;
  }
}

type MemberView = Pick<InstanceStatus, 'url' | 'tasks' | 'parts'> & { readonly leader: boolean };

/** The members as one instance sees them; none if the instance does not answer. */
async function membersOf(port: number): Promise<readonly MemberView[]> {
  try {
    const signal = AbortSignal.timeout(LIMITS.requestMs.value);
    const response = await fetch(`${urlOf(port)}/engine/v1/cluster/members`, { signal });
    const { members } = (await response.json()) as { readonly members?: readonly MemberView[] };
    return members ?? [];
  } catch {
    // Another instance is asked next.
    return [];
  }
}

async function statusOf({
  file: { coordinator, instances },
  isUp: [isUp = false, ...answers],
}: LocalClusterState<ClusterFile>): Promise<LocalClusterStatus> {
  const first = instances.find((_, i) => answers[i] === true);
  const members = first === undefined ? [] : await membersOf(first.port);
  return {
    coordinator: { url: coordinatorUrl(coordinator.port), pid: coordinator.pid, isUp },
    instances: instances.map(({ name, port, pid }, i) => {
      const member = members.find(({ url }) => url === urlOf(port));
      return {
        instance: name,
        url: urlOf(port),
        pid,
        isUp: answers[i] === true,
        isLeader: member?.leader === true,
        tasks: member?.tasks ?? 0,
        parts: member?.parts ?? 0,
      };
    }),
  };
}
