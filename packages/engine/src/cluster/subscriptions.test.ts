// What a database pushes to the instances of a cluster: whichever it chooses, each point is counted
// once, and when instances stop the others take what comes.
import { eventually, hasPrograms, query, startInfluxdb, write } from '@tidemark/testkit';
import { COUNTING, countedBy } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import type { TestInstance } from '@tidemark/testkit/engine-cluster';
import { expect, test } from 'vitest';

test.runIf(hasPrograms('nats-server', 'influxd'))(
  'a database pushes to any instance, each point counts once, and goes on when the leader stops',
  async () => {
    const cluster = await TestCluster.open();
    const database = await startInfluxdb();
    try {
      await query(database.url, 'CREATE DATABASE d');
      const values = {
        tsdb: [
          {
            name: 'main',
            default: true,
            urls: [database.url],
            subscriptions: { d: ['autogen'] },
            'subscriptions-sync-interval': '200ms',
          },
        ],
      };
      const [a, b] = [await cluster.start(values), await cluster.start(values)];
      await a.engine.startTask('counting', COUNTING, { db: 'd', rp: 'autogen' });
      const destinations = async (): Promise<readonly string[]> => {
        const [series] = await query(database.url, 'SHOW SUBSCRIPTIONS');
        const values = (series?.values ?? []) as readonly (readonly unknown[])[];
        expect(values.length).toBeLessThanOrEqual(1);
        return (values[0]?.at(-1) ?? []) as readonly string[];
      };
      const urls = [a.engine.url, b.engine.url].toSorted();
      await eventually('both', async () =>
        (await destinations()).length === 2 ? true : undefined,
      );
      expect([...(await destinations())].toSorted()).toEqual(urls);

      let written = 0;
      const writeSome = async (count: number): Promise<void> => {
        for (let i = 0; i < count; i++)
          await write(database.url, 'd', `m v=1 ${++written}000000000`);
      };
      const counted = ({ engine }: TestInstance): Promise<number> => countedBy(engine, 'counting');
      await writeSome(20);
      await eventually('all points', async () => ((await counted(b)) === 20 ? true : undefined));

      const leader = await cluster.leader(a);
      const other = leader === a ? b : a;
      await Promise.all([leader.engine.stop(), writeSome(20)]);
      await writeSome(20);
      await eventually('the rest', async () => ((await counted(other)) >= 60 ? true : undefined));

      expect(await counted(other)).toBe(60);
      // One that is restarted need not be missed.
      expect(await destinations()).toHaveLength(2);
    } finally {
      await cluster.close();
      await database.stop();
    }
  },
  90_000,
);
