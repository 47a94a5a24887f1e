// All three servers of the coordinator are killed at once, several times, and started again while
// points are written: saved states miss no points of the log.
import { NatsCoordinator } from '@tidemark/cluster';
import { eventually, hasPrograms, TestCoordinators } from '@tidemark/testkit';
import { COUNTING, countedBy, TestEngine } from '@tidemark/testkit/engine';
import { expect, test } from 'vitest';

const WRITE = '/engine/v1/write?db=d&rp=r';
const ROUNDS = 3;
/** Acknowledged writes before the servers are killed, which take longer than a sync. */
const WRITES = 1000;
const WRITERS = 10;
const START_MS = 60_000;

test.runIf(hasPrograms('nats-server'))(
  'points stay at servers that are killed until states that contain them are synced there',
  { timeout: 600_000 },
  async () => {
    const servers = await TestCoordinators.start();
    const { urls } = servers;
    const engine = new TestEngine();
    const open = (): Promise<NatsCoordinator> =>
      eventually(
        'servers that have found each other',
        () =>
          NatsCoordinator.open({ urls, login: '', name: 'tidemark', replicas: 3 }).catch(
            () => undefined,
          ),
        START_MS,
      );
    try {
      await (await open()).close();
      await engine.start(
        {
          'secrets-key': 'env:KEY',
          cluster: {
            enabled: true,
            coordinator: urls,
            replicas: 3,
            'snapshot-interval': '50ms',
            'sync-interval': '1s',
          },
        },
        { environment: { KEY: 'k'.repeat(32) } },
      );
      await engine.startTask('counting', COUNTING);
      let sent = 0;
      /** A write is not answered while the servers are away. */
      const write = async (): Promise<boolean> => {
        const line = `m v=1 ${++sent}000000000`;
        return (await engine.call('POST', WRITE, line)).status === 204;
      };

      for (let round = 0; round < ROUNDS; round++) {
        for (let count = 0; count < WRITES;)
          count += (await Promise.all(Array.from({ length: WRITERS }, write))).filter(
            Boolean,
          ).length;
        const writing = Promise.all(Array.from({ length: WRITERS }, write));
        const killing = servers.kill().then(() => servers.start());
        await eventually('a write', async () => ((await write()) ? true : undefined), START_MS);
        await Promise.all([writing, killing]);
      }

      const own = await open();
      const { last } = await own.points.ends();
      await own.close();
      await eventually('all points of the log', async () =>
        (await countedBy(engine, 'counting')) >= last ? true : undefined,
      );
      expect(last).toBeGreaterThanOrEqual(ROUNDS * WRITES);
      const { json } = await engine.call('GET', '/engine/v1/cluster/tasks');
      expect(json.tasks).toHaveLength(1);
      expect(json.tasks[0].missing).toBeUndefined();
      expect(engine.log.filter((line) => line.includes('lacks records'))).toEqual([]);
    } finally {
      await engine.close();
      await servers.close();
    }
  },
);
