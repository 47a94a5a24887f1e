// Three engines as separate processes, each with a connection to the coordinator that can be cut.
import { join } from 'node:path';

import {
  CuttableLink,
  makeDirectory,
  removeDirectory,
  startTidemark,
  TestCoordinator,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { CpuQuota } from './cpu-quota.ts';

export type Instance = {
  readonly name: string;
  readonly link: CuttableLink;
  readonly quota: CpuQuota | undefined;
  process: Tidemark;
  url: string;
};

/** Engines and the coordinator that they share. */
export class EngineCluster {
  readonly coordinator: TestCoordinator;
  readonly directory: string;
  readonly leaseMs: number;
  instances: Instance[] = [];
  /** Instances that have ended by themselves, with the last line that they have logged. */
  readonly failures: string[] = [];

  private constructor(coordinator: TestCoordinator, directory: string, leaseMs: number) {
    this.coordinator = coordinator;
    this.directory = directory;
    this.leaseMs = leaseMs;
  }

  /** With `quotaPercent`, each instance may use that share of one processor. */
  static async start(
    count: number,
    {
      leaseMs,
      quotaPercent,
    }: { readonly leaseMs: number; readonly quotaPercent?: number | undefined },
  ): Promise<EngineCluster> {
    const coordinator = await TestCoordinator.start();
    const cluster = new EngineCluster(coordinator, await makeDirectory(), leaseMs);
    for (let i = 0; i < count; i++) {
      const link = await CuttableLink.open(coordinator.port);
      const name = `instance-${i}`;
      const quota = quotaPercent === undefined ? undefined : new CpuQuota(name, quotaPercent);
      const process = await cluster.#start({ name, link, quota });
      cluster.instances.push({ name, link, quota, process, url: process.engine });
    }
    return cluster;
  }

  /** Starts an instance again whose process has ended. */
  async restart(instance: Instance): Promise<void> {
    instance.process = await this.#start(instance);
    instance.url = instance.process.engine;
  }

  /** The instance that leads, as one of the others says it. */
  async leader(asked: Instance): Promise<Instance> {
    const members = await membersOf(asked);
    const found = this.#of(members.find(({ leader }) => leader));
    if (found === undefined) throw new Error(`nobody leads: ${JSON.stringify(members)}`);
    return found;
  }

  /** The follower with most tasks, and the number of tasks of each instance. */
  async busiest(
    leader: Instance,
  ): Promise<{ readonly other: Instance; readonly tasks: readonly number[] }> {
    const members = await membersOf(leader);
    const others = members
      .filter((member) => !member.leader && member.state === 'alive')
      .sort((x, y) => y.tasks - x.tasks);
    return { other: this.#of(others[0]) ?? leader, tasks: members.map(({ tasks }) => tasks) };
  }

  #of(member: MemberView | undefined): Instance | undefined {
    return this.instances.find(({ url }) => url === member?.url);
  }

  async close(): Promise<void> {
    for (const { link, process, quota } of this.instances) {
      link.restore();
      await process.stop();
      quota?.close();
      await link.close();
    }
    await this.coordinator.close();
    await removeDirectory(this.directory);
  }

  async #start({
    name,
    link,
    quota,
  }: Pick<Instance, 'name' | 'link' | 'quota'>): Promise<Tidemark> {
    const started = await startTidemark({
      command: 'engine',
      directory: join(this.directory, name),
      args: ['--log-level', 'info'],
      wrapper: quota?.wrapper,
      environment: {
        TIDEMARK_SECRETS_KEY: 'env:SOAK_KEY',
        SOAK_KEY: 'k'.repeat(32),
        TIDEMARK_CLUSTER_ENABLED: 'true',
        TIDEMARK_CLUSTER_COORDINATOR: `nats://127.0.0.1:${link.port}`,
        TIDEMARK_CLUSTER_LEASE: `${this.leaseMs}ms`,
      },
    });
    started.process.once('exit', (status) => {
      // Those that are killed have none, those that are stopped 0.
      if (status === null || status === 0) return;
      const logged = started.errorOutput().split('\n');
      const reason = logged.find((line) => line.includes('"fatal"')) ?? logged.at(-2) ?? '';
      this.failures.push(`${name} has ended with status ${status}: ${reason}`);
    });
    return started;
  }
}

type MemberView = {
  readonly url: string;
  readonly leader: boolean;
  readonly state: string;
  readonly tasks: number;
};

async function membersOf({ url }: Instance): Promise<readonly MemberView[]> {
  const response = await fetch(`${url}/engine/v1/cluster/members`);
  return ((await response.json()) as { readonly members: readonly MemberView[] }).members;
}
