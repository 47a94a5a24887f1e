// Several engines and their coordinator on this machine, for trying and for tests. The processes
// outlive the command; everything they keep is below one directory.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { Conflict, InvalidRequest, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import {
  findProgram,
  freePorts,
  isRunning,
  makeDirectory,
  startDetached,
  stopProcess,
} from '@tidemark/process';

import { Coordinator } from '../coordinator.ts';
import { LIMITS } from '../limits.ts';
import { CLUSTER_FILE } from './cluster-file.ts';
import type { ClusterFile, InstanceFile } from './cluster-file.ts';

export type LocalClusterOptions = {
  readonly directory: string;
  /**
   * Of a new cluster; one that is there must have as many. `undefined`: three, or what is there.
   */
  readonly instances?: number | undefined;
  /** What starts an engine: a program and its first parameters. */
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: Clock;
};

export type InstanceStatus = {
  readonly instance: string;
  readonly url: string;
  readonly pid: number;
  /** Whether it answers. */
  readonly isUp: boolean;
  readonly isLeader: boolean;
  /** Tasks that it runs. */
  readonly tasks: number;
};

export type LocalClusterStatus = {
  readonly coordinator: { readonly url: string; readonly pid: number; readonly isUp: boolean };
  readonly instances: readonly InstanceStatus[];
};

const DEFAULT_COUNT = 3;
const COORDINATOR = 'coordinator';
const POLL_MS = 100;

/** Ports of a new cluster that are free when they are chosen may be taken when it listens. */
const PORTS_TRIED = 3;

/** A process that ended before it answered. */
class EndedEarly extends Unavailable {}

/**
 * Starts what does not run, and resolves when all of it answers. Ports and data of an earlier start
 * are kept. When it fails, what it has started is ended again.
 */
export async function startLocalCluster(options: LocalClusterOptions): Promise<LocalClusterStatus> {
  const directory = resolve(options.directory);
  const program = findProgram('nats-server', options.environment);
  if (program === undefined)
    throw new Unavailable(
      'a local cluster of engines needs a program that is not installed: apt-get install nats-server',
    );
  makeDirectory(directory, { setting: '--dir', mode: 0o700 });
  const known = CLUSTER_FILE.read(directory);
  for (let tried = 1; ; tried++) {
    const file = known ?? (await newCluster(options));
    requireShape(file, options);
    try {
      return await startProcesses({ ...options, directory }, program, file);
    } catch (error) {
      const isLast = known !== undefined || tried === PORTS_TRIED;
      if (isLast || !(error instanceof EndedEarly)) throw error;
    }
  }
}

async function startProcesses(
  options: LocalClusterOptions,
  program: string,
  planned: ClusterFile,
): Promise<LocalClusterStatus> {
  const { directory, clock, command } = options;
  writeConfiguration(directory, planned);
  const started: { readonly pid: number; readonly configuration: string }[] = [];
  const start = async (name: string, pid: number, line: readonly string[]): Promise<number> => {
    const configuration = configurationOf(directory, name);
    if (isRunning(pid, configuration)) return pid;
    const [file = '', ...parameters] = line;
    const own = await startDetached(file, parameters, configuration);
    started.push({ pid: own, configuration });
    return own;
  };
  try {
    const configuration = configurationOf(directory, COORDINATOR);
    const { port } = planned.coordinator;
    const pid = await start(COORDINATOR, planned.coordinator.pid, [program, '-c', configuration]);
    await whenUp({ directory, name: COORDINATOR, pid, clock }, () => isCoordinatorUp(port));
    const instances: InstanceFile[] = [];
    for (const instance of planned.instances) {
      const { name } = instance;
      const parameters = ['engine', '--config', configurationOf(directory, name)];
      const own = await start(name, instance.pid, [...command, ...parameters]);
      instances.push({ ...instance, pid: own });
    }
    const file: ClusterFile = { ...planned, coordinator: { port, pid }, instances };
    CLUSTER_FILE.write(directory, file);
    for (const { name, pid: own, port: at } of instances)
      await whenUp({ directory, name, pid: own, clock }, () => isAnswering(at));
    return await statusOf(file);
  } catch (error) {
    for (const { pid, configuration } of started.reverse())
      await stopProcess(pid, configuration, stopping(clock));
    throw error;
  }
}

/** Which processes there are, which of them answer, and what they do. */
export function localClusterStatus(directory: string): Promise<LocalClusterStatus> {
  return statusOf(CLUSTER_FILE.require(resolve(directory)));
}

/** Ends every process, the instances one after the other. Data and ports stay. */
export async function stopLocalCluster(directory: string, clock: Clock): Promise<void> {
  const home = resolve(directory);
  const { coordinator, instances } = CLUSTER_FILE.require(home);
  for (const { pid, name } of instances)
    await stopProcess(pid, configurationOf(home, name), stopping(clock));
  await stopProcess(coordinator.pid, configurationOf(home, COORDINATOR), stopping(clock));
}

const stopping = (clock: Clock): Parameters<typeof stopProcess>[2] => ({
  clock,
  deadlineMs: LIMITS.stopMs.value,
});

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

function writeConfiguration(directory: string, { coordinator, instances }: ClusterFile): void {
  const key = join(directory, 'engine.key');
  if (!existsSync(key))
    writeFileSync(key, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  const home = join(directory, COORDINATOR);
  mkdirSync(home, { recursive: true });
  writeFileSync(
    configurationOf(directory, COORDINATOR),
    [
      `listen: "127.0.0.1:${coordinator.port}"`,
      'max_payload: 8MB',
      `jetstream { store_dir: ${JSON.stringify(join(home, 'data'))} }`,
      '',
    ].join('\n'),
  );
  for (const { name, port } of instances) {
    mkdirSync(join(directory, name), { recursive: true });
    const path = configurationOf(directory, name);
    // What an operator has added stays.
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
      '',
    ];
    writeFileSync(path, lines.join('\n'));
  }
}

async function whenUp(
  process: {
    readonly directory: string;
    readonly name: string;
    readonly pid: number;
    readonly clock: Clock;
  },
  isUp: () => Promise<boolean>,
): Promise<void> {
  const { directory, name, pid, clock } = process;
  const until = clock.monotonicMs() + LIMITS.startMs.value;
  while (!(await isUp())) {
    const log = join(directory, name, 'output.log');
    if (!isRunning(pid, configurationOf(directory, name)))
      throw new EndedEarly(`${name} has ended while it started: see ${log}`);
    if (clock.monotonicMs() > until)
      throw new Unavailable(`${name} does not answer after ${LIMITS.startMs.value} ms: see ${log}`);
    await clock.sleep(POLL_MS);
  }
}

const urlOf = (port: number): string => `http://127.0.0.1:${port}`;
const coordinatorUrl = (port: number): string => `nats://127.0.0.1:${port}`;

async function isCoordinatorUp(port: number): Promise<boolean> {
  try {
    await Coordinator.check(coordinatorUrl(port));
    return true;
  } catch {
    // Not yet, or not any more.
    return false;
  }
}

async function isAnswering(port: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(LIMITS.requestMs.value);
    return (await fetch(`${urlOf(port)}/health`, { signal })).ok;
  } catch {
    // Not yet, or not any more.
    return false;
  }
}

type MemberView = { readonly url: string; readonly leader: boolean; readonly tasks: number };

/** What an instance says of all; nothing when it does not answer. */
async function membersOf(port: number): Promise<readonly MemberView[]> {
  try {
    const signal = AbortSignal.timeout(LIMITS.requestMs.value);
    const response = await fetch(`${urlOf(port)}/engine/v1/cluster/members`, { signal });
    const { members } = (await response.json()) as { readonly members?: readonly MemberView[] };
    return members ?? [];
  } catch {
    // Asked next is another one.
    return [];
  }
}

async function statusOf({ coordinator, instances }: ClusterFile): Promise<LocalClusterStatus> {
  const [isUp, ...answers] = await Promise.all([
    isCoordinatorUp(coordinator.port),
    ...instances.map(({ port }) => isAnswering(port)),
  ]);
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
      };
    }),
  };
}
