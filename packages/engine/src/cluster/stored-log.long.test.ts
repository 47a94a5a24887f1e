// What an earlier version has left at the coordinator is read by this one: `fixtures` has both logs
// of a cluster as version 0.1.0 wrote them (level 1, docs/formats/engine-cluster.md): a template,
// two tasks with their states after five points, and two more points that no state contains.
import { Coordinator } from '@tidemark/cluster';
import type { MessageLog } from '@tidemark/cluster';
import { eventually, hasPrograms } from '@tidemark/testkit';
import { countedBy } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

type Stored = {
  readonly sequence: number;
  readonly label: string;
  readonly level: number;
  readonly bytes: string;
};

const FIXTURE = new URL('./fixtures/stored-log-level-1.json', import.meta.url);

test.runIf(hasPrograms('nats-server'))(
  'an instance goes on with the logs of an earlier version',
  async () => {
    const { changes, points } = JSON.parse(readFileSync(FIXTURE, 'utf8')) as {
      readonly changes: readonly Stored[];
      readonly points: readonly Stored[];
    };
    const cluster = await TestCluster.open();
    try {
      const urls = [cluster.coordinator.url];
      const own = await Coordinator.open({ urls, login: '', name: 'tidemark', replicas: 1 });
      await restore(own.changes, changes);
      await restore(own.points, points);
      await own.close();

      const { engine } = await cluster.start({ task: { hosts: '1' } });

      expect((await engine.call('GET', '/engine/v1/templates/kept')).status).toBe(200);
      await eventually('all points', async () =>
        (await countedBy(engine, 'counting')) === 7 ? true : undefined,
      );
      const path = '/engine/v1preview/alerts/topics/levels/events/a';
      await eventually('the newest event', async () => {
        const { json } = await engine.call('GET', path);
        return json.state?.message === '7' ? true : undefined;
      });
      const { json } = await engine.call('GET', path);
      expect(json.state).toMatchObject({ level: 'CRITICAL', duration: '3s' });
      expect((await engine.call('POST', '/engine/v1/write?db=d&rp=r', 'm,h=x v=8i')).status).toBe(
        204,
      );
      await eventually('one more', async () =>
        (await countedBy(engine, 'counting')) === 8 ? true : undefined,
      );
    } finally {
      await cluster.close();
    }
  },
);

/** Puts records back with the numbers that they had. */
async function restore(log: MessageLog, records: readonly Stored[]): Promise<void> {
  const { signal } = new AbortController();
  const [first = { sequence: 1 }] = records;
  for (let i = 1; i < first.sequence; i++) await log.append(new Uint8Array(0), { signal });
  await log.purge(first.sequence);
  for (const { sequence, label, level, bytes } of records) {
    const put = await log.append(Buffer.from(bytes, 'base64'), { label, level, signal });
    expect(put).toBe(sequence);
  }
}
