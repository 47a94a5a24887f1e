// Subscriptions to the instances of a cluster: each point counts once, whichever instance the
// database chooses, and when instances stop the others receive the writes.
import { eventually, hasPrograms, query, startInfluxdb, write } from '@tidemark/testkit';
import { COUNTING, countedBy } from '@tidemark/testkit/engine';
import { TestCluster } from '@tidemark/testkit/engine-cluster';
import type { TestInstance } from '@tidemark/testkit/engine-cluster';
import { createSocket } from 'node:dgram';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

describe.runIf(hasPrograms('nats-server', 'influxd'))('a database pushes to a cluster', () => {
  let cluster: TestCluster;
  let database: Awaited<ReturnType<typeof startInfluxdb>>;
  let a: TestInstance;
  let b: TestInstance;
  /** Where the subscription leads to the first instance. */
  let first = '';
  let written = 0;
  beforeAll(async () => {
    database = await startInfluxdb();
  });
  beforeEach(async () => {
    written = 0;
    cluster = await TestCluster.open();
    await query(database.url, 'CREATE DATABASE d');
  });
  afterEach(async () => {
    await cluster.close();
    // With its subscriptions.
    await query(database.url, 'DROP DATABASE d');
  });
  afterAll(() => database.stop());

  async function start(protocol: string): Promise<void> {
    const section = {
      name: 'main',
      default: true,
      urls: [database.url],
      subscriptions: { d: ['autogen'] },
      'subscription-protocol': protocol,
      'subscriptions-sync-interval': protocol === 'http' ? '200ms' : '1h',
      'udp-bind': '127.0.0.1',
    };
    a = await cluster.start({ tsdb: [section] });
    [first = ''] = await destinations(1);
    b = await cluster.start({ tsdb: [section] });
    await a.engine.startTask('counting', COUNTING, { db: 'd', rp: 'autogen' });
  }

  /** Where the one subscription leads, when it leads to so many. */
  function destinations(count: number): Promise<readonly string[]> {
    return eventually(`${count} destinations`, async () => {
      const [series] = await query(database.url, 'SHOW SUBSCRIPTIONS');
      const values = (series?.values ?? []) as readonly (readonly unknown[])[];
      expect(values.length).toBeLessThanOrEqual(1);
      const urls = (values[0]?.at(-1) ?? []) as readonly string[];
      return urls.length === count && (await isFollowed(urls)) ? urls : undefined;
    });
  }

  /** InfluxDB begins to write to a new subscription a moment after it shows it. */
  async function isFollowed(urls: readonly string[]): Promise<boolean> {
    const variables = await (await fetch(`${database.url}/debug/vars`)).text();
    const all = Object.values(JSON.parse(variables) as Record<string, { tags?: any }>);
    const followed = new Set(all.map((one) => one.tags?.destination));
    return urls.every((url) => followed.has(url));
  }

  const line = (): string => `m v=1 ${++written}000000000`;

  async function writeSome(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await write(database.url, 'd', line());
  }

  /**
   * All that was written, and nothing of it twice. InfluxDB waits half a minute for an instance
   * that stops while it has a request.
   */
  async function expectAll({ engine }: TestInstance): Promise<void> {
    const counted = (): Promise<number> => countedBy(engine, 'counting');
    const isAll = async () => ((await counted()) >= written ? true : undefined);
    await eventually('all points', isAll, 60_000);
    expect(await counted()).toBe(written);
  }

  async function leaderAndOther(): Promise<readonly [TestInstance, TestInstance]> {
    const leader = await cluster.leader(a);
    return [leader, leader === a ? b : a];
  }

  test('over HTTP: to any instance, each point counts once, and goes on when the leader stops', async () => {
    await start('http');
    const urls = [a.engine.url, b.engine.url].toSorted();
    expect((await destinations(2)).toSorted()).toEqual(urls);

    await writeSome(20);
    await expectAll(b);

    const [leader, other] = await leaderAndOther();
    await Promise.all([leader.engine.stop(), writeSome(20)]);
    await writeSome(20);
    await expectAll(other);
    // One that is restarted need not be missed.
    await destinations(2);
  }, 180_000);

  test('over UDP: to any instance, each passes it on, and goes on when the leader stops', async () => {
    await start('udp');
    const both = await destinations(2);
    expect(both.every((url) => url.startsWith('udp://127.0.0.1:'))).toBe(true);

    await writeSome(20);
    await expectAll(b);

    // Points that an instance receives while nobody leads wait for the next leader.
    const [leader, other] = await leaderAndOther();
    expect(leader).toBe(a);
    const port = Number(new URL(both.find((url) => url !== first) ?? '').port);
    const stopping = leader.engine.stop();
    const socket = createSocket('udp4');
    for (let i = 0; i < 20; i++)
      await new Promise((resolve) => socket.send(line(), port, '127.0.0.1', resolve));
    socket.close();
    await stopping;
    await expectAll(other);
    expect(await destinations(1)).toEqual([`udp://127.0.0.1:${port}`]);
    await writeSome(20);
    await expectAll(other);

    await cluster.restart(leader);
    await destinations(2);
    await writeSome(20);
    await expectAll(leader);
  }, 180_000);
});
