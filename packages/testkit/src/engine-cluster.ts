// Several engines in this process with a coordinator, each with a way to it that can be cut, for
// tests.
import type { StartEngineOptions } from '@tidemark/engine';

import { CuttableLink, TestCoordinator } from './coordinator.ts';
import { TestEngine } from './engine.ts';
import { eventually } from './http.ts';

type Values = Readonly<Record<string, unknown>>;

export type TestInstance = {
  readonly engine: TestEngine;
  readonly link: CuttableLink;
  readonly values: Values;
};

/** All instances share the thread of the test with each other, which may be busy for a while. */
const LEASE = '3s';

/** With which all of them store definitions. */
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

  /** Starts one that was stopped, or stops it before. */
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

  /** The instance that leads, as one of them says. */
  async leader({ engine }: TestInstance): Promise<TestInstance> {
    return eventually('a leader', async () => {
      const { json } = await engine.call('GET', '/engine/v1/cluster/members');
      const members = (json?.members ?? []) as readonly { url: string; leader: boolean }[];
      const url = members.find(({ leader }) => leader)?.url;
      return this.instances.find((one) => one.engine.isStarted && one.engine.url === url);
    });
  }

  async close(): Promise<void> {
    for (const { link } of this.instances) link.restore();
    await Promise.all(this.instances.map(({ engine }) => engine.close()));
    await Promise.all(this.instances.map(({ link }) => link.close()));
    await this.coordinator.close();
  }
}
