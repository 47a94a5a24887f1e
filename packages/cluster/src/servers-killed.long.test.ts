// Three servers that store each value are killed at once and started again: at most what was purged
// or removed before is gone. Some of it may be back.
import { eventually, hasPrograms, TestCoordinators } from '@tidemark/testkit';
import { expect, test } from 'vitest';

import { natsVersion } from './local-cluster/nats-configuration.ts';
import { NatsCoordinator, purgesExactly } from './nats-coordinator.ts';

const START_MS = 60_000;
const RECORDS = 500;
const KEPT = 50;

function open({ urls }: TestCoordinators): Promise<NatsCoordinator> {
  return eventually(
    'servers that have found each other',
    () => NatsCoordinator.open({ urls, login: '', name: 'c', replicas: 3 }).catch(() => undefined),
    START_MS,
  );
}

async function numbersIn({ points }: NatsCoordinator): Promise<readonly number[]> {
  const { signal } = new AbortController();
  const read: number[] = [];
  for await (const { bytes } of points.read({ first: 1, through: RECORDS, signal }))
    read.push(Number(Buffer.from(bytes).toString()));
  return read;
}

test.runIf(hasPrograms('nats-server'))(
  'servers that were killed have everything that was not purged or removed',
  { timeout: 300_000 },
  async () => {
    const servers = await TestCoordinators.start();
    try {
      const { signal } = new AbortController();
      const before = await open(servers);
      for (const key of ['kept', 'removed']) await before.register.put(key, key);
      await before.register.remove('removed');
      expect(await before.register.get('removed')).toBeUndefined();
      await before.register.remove('removed');
      for (let i = 1; i <= RECORDS; i++) {
        await before.points.append(Buffer.from(String(i)), { signal });
        if (i > KEPT && i % 10 === 0) await before.points.purge(i - KEPT + 1);
      }
      expect(await before.points.ends()).toMatchObject({
        first: RECORDS - KEPT + 1,
        last: RECORDS,
      });
      await before.close();

      await servers.kill();
      servers.start();

      const after = await open(servers);
      const ends = await eventually('a log', () => after.points.ends().catch(() => undefined));
      expect(ends.last).toBe(RECORDS);
      // Servers that have just been started may not send anything at first: readers ask again.
      const read = await eventually(
        'the records of the log',
        () => numbersIn(after).catch(() => undefined),
        START_MS,
      );
      const kept = Array.from({ length: KEPT }, (_, i) => RECORDS - KEPT + 1 + i);
      expect(read.slice(-KEPT)).toEqual(kept);
      expect((await after.register.get('kept'))?.text).toBe('kept');
      await after.close();
    } finally {
      await servers.close();
    }
  },
);

test.runIf(hasPrograms('nats-server'))(
  'a purge of one message after the other ends with its signal',
  { timeout: 300_000 },
  async () => {
    const servers = await TestCoordinators.start();
    try {
      const coordinator = await open(servers);
      const { points } = coordinator;
      const { signal } = new AbortController();
      for (let i = 1; i <= RECORDS; i++) await points.append(Buffer.from(String(i)), { signal });
      const ended = new AbortController();
      const purging = points.purge(RECORDS, ended.signal);
      ended.abort();
      await purging;
      // Servers that purge exactly do it with one request, which nothing ends.
      const firsts = purgesExactly(natsVersion('nats-server').replace(/^.*v/, '')) ? RECORDS : 1;
      expect((await points.ends()).first).toBe(firsts);

      await points.purge(RECORDS, signal);
      expect(await points.ends()).toMatchObject({ first: RECORDS, last: RECORDS });
      await coordinator.close();
    } finally {
      await servers.close();
    }
  },
);

test('versions are compared by number', () => {
  const versions = ['2.9.10', '2.9.18', '2.9.9', '2.10.0', '2.8.20', '3.0.0-beta.1', '1.4.1', ''];

  expect(versions.filter(purgesExactly)).toEqual(['2.9.18', '2.10.0', '3.0.0-beta.1']);
});
