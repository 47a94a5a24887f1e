// The subject of the soak: a cluster of two shards of two replicas and two services behind a
// balancer. The clock of one service is an hour ahead, and its connection to the cluster can be
// cut.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { startCluster, stopCluster } from '@tidemark/clickhouse';
import type { ClusterStatus } from '@tidemark/clickhouse';
import { systemClock } from '@tidemark/core';
import {
  CuttableLink,
  eventually,
  hasPrograms,
  makeDirectory,
  removeDirectory,
  startTidemark,
  TcpBalancer,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

const SHAPE = { shards: 2, replicas: 2 };
const CLOCK_OFFSETS = ['+0s', '+1h'];

/** Index of the service whose connections to the cluster can be cut. */
const CUTTABLE = 1;

/** A process of the cluster is killed when it has not ended by then. */
const STOP_MS = 30_000;

export class Subject {
  readonly directory: string;
  readonly clock = systemClock();
  readonly #frontEnds: (Tidemark | undefined)[] = [];
  #status: ClusterStatus | undefined;
  #balancer: TcpBalancer | undefined;
  #links: readonly CuttableLink[] = [];

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async start(): Promise<Subject> {
    const subject = new Subject(await makeDirectory());
    await subject.mend();
    const ports = subject.status.nodes.map(({ url }) => Number(new URL(url).port));
    subject.#links = await Promise.all(ports.map((port) => CuttableLink.open(port)));
    for (let i = 0; i < CLOCK_OFFSETS.length; i++) await subject.startFrontEnd(i);
    subject.#balancer = await TcpBalancer.open(() => subject.frontEnds.map(({ tsdb }) => tsdb));
    return subject;
  }

  /** The address for clients. */
  get url(): string {
    return this.#balancer?.url ?? '';
  }

  get frontEnds(): readonly Tidemark[] {
    return this.#frontEnds.flatMap((one) => one ?? []);
  }

  get status(): ClusterStatus {
    if (this.#status === undefined) throw new Error('the cluster was started');
    return this.#status;
  }

  /** Starts what does not run of the cluster. */
  async mend(): Promise<void> {
    const directory = join(this.directory, 'cluster');
    const { clock } = this;
    this.#status = await startCluster({ directory, ...SHAPE, environment: process.env, clock });
  }

  async startFrontEnd(index: number): Promise<void> {
    const urls = this.status.nodes.map(({ url }, node) =>
      index === CUTTABLE ? `http://127.0.0.1:${this.#links[node]?.port}` : url,
    );
    this.#frontEnds[index] = await startTidemark({
      command: 'tsdb',
      directory: join(this.directory, `front-${index}`),
      args: [
        '--monitor-store-enabled=false',
        '--storage-engine=clickhouse',
        `--clickhouse-urls=${urls.join(',')}`,
        '--retention-check-interval=1s',
        ...(index === 1 ? ['--coordinator-partial-answers=true'] : []),
      ],
      environment: clockEnvironment(CLOCK_OFFSETS[index] ?? '+0s'),
    });
  }

  async endFrontEnd(index: number, how: 'kill' | 'stop'): Promise<void> {
    const frontEnd = this.#frontEnds[index];
    this.#frontEnds[index] = undefined;
    await frontEnd?.[how]();
  }

  /** Data from the service to the cluster is neither accepted nor refused. */
  cut(): void {
    for (const link of this.#links) link.cut();
  }

  restore(): void {
    for (const link of this.#links) link.restore();
  }

  /** Ends a process of the cluster; resolves when it has. */
  async end(pid: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    process.kill(pid, signal);
    const hasEnded = (): Promise<true | undefined> => {
      try {
        process.kill(pid, 0);
        return Promise.resolve(undefined);
      } catch {
        return Promise.resolve(true); // There is no such process.
      }
    };
    await eventually('its end', hasEnded, STOP_MS).catch(() => process.kill(pid, 'SIGKILL'));
    await eventually('its end', hasEnded);
  }

  async close(): Promise<void> {
    await this.#balancer?.close();
    for (let i = 0; i < CLOCK_OFFSETS.length; i++) await this.endFrontEnd(i, 'stop');
    for (const link of this.#links) await link.close();
    await stopCluster(join(this.directory, 'cluster'), this.clock);
    await removeDirectory(this.directory);
  }
}

/** The library alone: the program `faketime` would stay the parent of what it starts. */
function clockEnvironment(offset: string): Readonly<Record<string, string>> {
  if (!hasPrograms('faketime'))
    throw new Error('the soak needs a program: apt-get install faketime');
  const library = execFileSync('faketime', ['-f', '+0s', 'printenv', 'LD_PRELOAD'], {
    encoding: 'utf8',
  });
  return { LD_PRELOAD: library.trim(), FAKETIME: offset, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}
