// Several engines in this process with a coordinator, each with a link to it that can be cut, for
// tests.
import { NatsCoordinator } from '@tidemark/cluster';
import type { StartEngineOptions } from '@tidemark/engine';

import { CuttableLink, TestCoordinator } from './coordinator.ts';
import { TestEngine } from './engine.ts';
import type { Answer } from './engine.ts';
import { eventually } from './http.ts';

type Values = Readonly<Record<string, unknown>>;

export type TestInstance = {
  readonly engine: TestEngine;
  readonly link: CuttableLink;
  readonly values: Values;
};

export type TestMember = {
  readonly url: string;
  readonly state: string;
  readonly leader: boolean;
  readonly tasks: number;
};

/** All instances share the thread of the test, which may be busy for a while. */
const LEASE = '3s';

/** The key with which all of them store definitions. */
const KEY = 'k'.repeat(32);

export class TestCluster {
  readonly coordinator: TestCoordinator;
  readonly instances: TestInstance[] = [];

  private constructor(coordinator: TestCoordinator) {
    this.coordinator = coordinator;
  }

  static async open(): Promise<TestCluster> {
    return new TestCluster(await TestCoordinator.start());
  }

  /** Does something at the coordinator that no instance of this version does. */
  async withCoordinator<T>(work: (own: NatsCoordinator) => Promise<T>): Promise<T> {
    const urls = [this.coordinator.url];
    const own = await NatsCoordinator.open({ urls, login: '', name: 'tidemark', replicas: 1 });
    try {
      return await work(own);
    } finally {
      await own.close();
    }
  }

  /** Starts one more instance. The values are as those of `TestEngine.start`. */
  async start(
    values: Values = {},
    options: Partial<StartEngineOptions> = {},
  ): Promise<TestInstance> {
    const link = await CuttableLink.open(this.coordinator.port);
    const instance = { engine: new TestEngine(), link, values };
    this.instances.push(instance);
    await this.restart(instance, options);
    return instance;
  }

  /** Starts a stopped instance, or restarts a running one. */
  async restart(
    { engine, link, values }: TestInstance,
    options: Partial<StartEngineOptions> = {},
  ): Promise<void> {
    await engine.stop();
    const { cluster, ...others } = values;
    await engine.start(
      {
        'secrets-key': 'env:KEY',
        ...others,
        cluster: {
          enabled: true,
          coordinator: [`nats://127.0.0.1:${link.port}`],
          lease: LEASE,
          ...(cluster as Values | undefined),
        },
      },
      { environment: { KEY }, ...options },
    );
  }

  /** The running instances. */
  get running(): readonly TestInstance[] {
    return this.instances.filter(({ engine }) => engine.isStarted);
  }

  /** The logs of all of them, each in its order. */
  get log(): readonly string[] {
    return this.instances.flatMap(({ engine }) => engine.log);
  }

  /** All instances, according to one of them; none while it does not know. */
  async members({ engine }: TestInstance): Promise<readonly TestMember[]> {
    const { json } = await engine.call('GET', '/engine/v1/cluster/members');
    return json?.members ?? [];
  }

  /** The leading instance, according to one of them. */
  async leader(asked: TestInstance): Promise<TestInstance> {
    return eventually('a leader', async () => {
      const leader = (await this.members(asked)).find((member) => member.leader);
      return this.running.find(({ engine }) => engine.url === leader?.url);
    });
  }

  /** The instance with a URL. */
  at(url: string | undefined): TestInstance {
    const found = this.running.find(({ engine }) => engine.url === url);
    if (found === undefined) throw new Error(`no instance that runs has the URL ${url}`);
    return found;
  }

  /** Asks an instance, through another one, to lead no more and to run no tasks. */
  drain(asked: TestInstance, url: string): Promise<Answer> {
    const path = `/engine/v1/cluster/members/${encodeURIComponent(url)}/drain`;
    return asked.engine.call('POST', path);
  }

  async close(): Promise<void> {
    for (const { link } of this.instances) link.restore();
    await Promise.all(this.instances.map(({ engine }) => engine.close()));
    await Promise.all(this.instances.map(({ link }) => link.close()));
    await this.coordinator.close();
  }
}
