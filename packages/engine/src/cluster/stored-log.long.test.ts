// Logs that an earlier version has left at the coordinator are readable: `fixtures` has both logs
// of two clusters as version 0.1.0 wrote them (level 1, docs/formats/engine-cluster.md), before
// causes of events were stored (docs/adr/0027-told-events.md). One has a template, two tasks with
// their states after five points, and two more points that no state contains; the other has the
// same tasks, with points that have timestamps of their own.
import type { MessageLog } from '@tidemark/cluster';
import { systemClock } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { eventually, hasPrograms } from '@tidemark/testkit';
import { countedBy } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeChanges, RecordLabel } from '../shared-log/change-record.ts';

type Stored = {
  readonly sequence: number;
  readonly label: string;
  readonly level: number;
  readonly bytes: string;
};

type Logs = { readonly changes: readonly Stored[]; readonly points: readonly Stored[] };

function fixture(name: string): Logs {
  return JSON.parse(
    readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url), 'utf8'),
  ) as Logs;
}

test.runIf(hasPrograms('nats-server'))(
  'an instance goes on with the logs of an earlier version',
  async () => {
    const { changes, points } = fixture('stored-log-level-1');
    const cluster = await TestCluster.open();
    try {
      await cluster.withCoordinator(async (own) => {
        await restore(own.changes, changes);
        await restore(own.points, points);
      });

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

test.runIf(hasPrograms('nats-server'))(
  'an instance tells nothing again that an earlier version has told of points of its time',
  async () => {
    const { changes, points } = fixture('stored-log-level-1-live');
    const cluster = await TestCluster.open();
    try {
      await cluster.withCoordinator(async (own) => {
        await restore(own.changes, changes);
        await restore(own.points, points);
      });
      const last = changes.at(-1)?.sequence ?? 0;
      /** Messages of the events that were stored behind the fixture. */
      const told = (): Promise<readonly string[]> =>
        cluster.withCoordinator(async (own) => {
          const { signal } = new AbortController();
          const range = { first: last + 1, through: (await own.changes.ends()).last, signal };
          const messages: string[] = [];
          for await (const { label, bytes } of own.changes.read(range))
            for (const { table, value } of label === RecordLabel.Changes
              ? decodeChanges(bytes)
              : [])
              if (table === 'topic-events')
                messages.push(JSON.parse(Buffer.from(value ?? '').toString('utf8')).message);
          return messages;
        });

      const { engine } = await cluster.start(
        { task: { hosts: '1' } },
        { clock: soonAfter(points) },
      );

      await eventually('all points', async () =>
        (await countedBy(engine, 'counting')) === 7 ? true : undefined,
      );
      await eventually('the points that its state lacks', async () => {
        const { json } = await engine.call('GET', '/engine/v1/tasks/alerting');
        return json.stats['node-stats'].alert2.collected >= 2 ? true : undefined;
      });
      expect((await engine.call('POST', '/engine/v1/write?db=d&rp=r', 'm,h=x v=8i')).status).toBe(
        204,
      );
      await eventually('one more', async () => ((await told()).includes('8') ? true : undefined));
      expect(await told()).toEqual(['8']);
    } finally {
      await cluster.close();
    }
  },
);

/** A clock that begins a minute after the last of these writes. */
function soonAfter(points: readonly Stored[]): Clock {
  const { now } = JSON.parse(points.at(-1)?.label ?? '') as { readonly now: string };
  const system = systemClock();
  const offset = BigInt(now) + 60_000_000_000n - system.now();
  return { ...system, now: () => system.now() + offset };
}

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
