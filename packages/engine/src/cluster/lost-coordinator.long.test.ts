// A coordinator that comes back without its disk, or without the identity of the cluster.
import { eventually, hasPrograms } from '@tidemark/testkit';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leaveCluster } from './leave.ts';

const KEY = 'k'.repeat(32);
const template = (id: string): object => ({ id, type: 'stream', script: 'stream|from()' });

test.runIf(hasPrograms('nats-server'))(
  'a coordinator that lost its disk is noticed by all, and a copy brings everything back',
  async () => {
    const cluster = await TestCluster.open();
    try {
      const values = { cluster: { lease: '1s' } };
      const [a, b] = [await cluster.start(values), await cluster.start(values)];
      const { status } = await b.engine.call('POST', '/engine/v1/templates', template('kept'));
      expect(status).toBe(200);
      // A copy without a record of the log does not know that the coordinator has lost it.
      await eventually('both copies have the log', async () => {
        const { json } = await a.engine.call('GET', '/engine/v1/cluster/members');
        const lags: readonly number[] = json.members.map((one: any) => one['copy-lag']);
        return lags.length === 2 && lags.every((lag) => lag === 0) ? true : undefined;
      });
      await Promise.all([a.engine.stop(), b.engine.stop()]);
      await cluster.coordinator.kill();
      rmSync(join(cluster.coordinator.directory, 'store'), { recursive: true });
      await cluster.coordinator.start();

      await Promise.all([cluster.restart(a), cluster.restart(b)]);

      for (const { engine } of [a, b]) {
        const health = await engine.call('GET', '/health');
        expect(health.status).toBe(503);
        expect(health.json.error).toContain('the coordinator has another log');
      }
      await Promise.all([a.engine.stop(), b.engine.stop()]);
      await cluster.coordinator.kill();
      rmSync(join(cluster.coordinator.directory, 'store'), { recursive: true });
      await cluster.coordinator.start();
      const from = a.engine.directory;
      expect(
        await leaveCluster({ from, fromKey: 'env:KEY', environment: { KEY } }),
      ).toBeGreaterThan(1);
      await cluster.restart(a);
      for (const name of readdirSync(b.engine.directory))
        if (name.startsWith('engine.')) {
          cpSync(join(b.engine.directory, name), join(b.engine.directory, `old-${name}`));
          rmSync(join(b.engine.directory, name));
        }
      await cluster.restart(b);
      await eventually('a leader', async () =>
        (await b.engine.call('GET', '/health')).status === 200 ? true : undefined,
      );
      const { json } = await b.engine.call('GET', '/engine/v1/templates');
      expect(json.templates.map(({ id }: any) => id)).toEqual(['kept']);
    } finally {
      await cluster.close();
    }
  },
);

test.runIf(hasPrograms('nats-server'))(
  'a coordinator that lost the identity of the cluster, and has its log, is given it again',
  async () => {
    const cluster = await TestCluster.open();
    try {
      const instance = await cluster.start({ cluster: { lease: '1s' } });
      const { engine, link } = instance;
      expect((await engine.call('POST', '/engine/v1/templates', template('kept'))).status).toBe(
        200,
      );
      const identity = (): Promise<string | undefined> =>
        cluster.withCoordinator(async ({ register }) => (await register.get('identity'))?.text);
      const before = await identity();
      await cluster.withCoordinator(({ register }) => register.remove('identity'));

      // It leads again when it can reach the coordinator.
      link.cut();
      await eventually('no leader', async () =>
        (await engine.call('GET', '/health')).status === 503 ? true : undefined,
      );
      link.restore();

      await eventually('a leader', async () =>
        (await engine.call('GET', '/health')).status === 200 ? true : undefined,
      );
      expect(await identity()).toBe(before);
      expect((await engine.call('GET', '/engine/v1/templates/kept')).status).toBe(200);
    } finally {
      await cluster.close();
    }
  },
);
