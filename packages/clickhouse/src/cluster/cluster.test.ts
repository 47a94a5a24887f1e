// Which writes are attempted, how often, and with which errors they fail: on servers that respond
// as the test defines.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { startFakeServer } from '../testing/fake-servers.ts';
import type { FakeServer } from '../testing/fake-servers.ts';
import { TEST_SETTINGS } from '../testing/test-storage.ts';
import { Cluster } from './cluster.ts';
import { Unreachable } from './failure.ts';

const { clock } = TEST_SETTINGS;

describe('an insert into a shard of two replicas', () => {
  let servers: readonly FakeServer[];
  let cluster: Cluster;

  beforeEach(async () => {
    servers = await Promise.all([startFakeServer(2), startFakeServer(2)]);
    const urls = servers.map(({ url }) => url);
    cluster = await Cluster.open({ ...TEST_SETTINGS, urls, pingTimeoutMs: 2000 }, clock);
  });
  afterEach(async () => {
    await cluster.close();
    for (const server of servers) await server.close();
  });

  const insert = (leftMs: number, table = 'points_1'): Promise<void> =>
    cluster.insert(0, {
      into: `${table} (x) FORMAT RowBinary`,
      rows: new Uint8Array(1),
      untilMs: clock.monotonicMs() + leftMs,
    });
  const sent = (table = 'points_1'): number =>
    servers.flatMap(({ inserted }) => inserted).filter((sql) => sql.includes(table)).length;

  test('ends, with the name of the replica that takes no writes, while the other one waits', async () => {
    const [first, second] = servers;
    for (const server of servers) server.inserts = 'never answered';
    second!.readOnlyTables = 3;

    const failure = await insert(600_000).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(Unreachable);
    expect(String(failure)).toContain(
      `url=\`${second!.url}\` reason=\`3 of its tables are read-only\``,
    );
    expect(String(failure)).not.toContain(first!.url);
    expect(await cluster.replicas()).toMatchObject([
      { url: first!.url, isUp: true, takesWrites: true },
      { url: second!.url, isUp: true, takesWrites: false, reason: '3 of its tables are read-only' },
    ]);
  });

  test('is not sent after its deadline', async () => {
    for (const server of servers) server.inserts = 'stored';

    const late = Promise.allSettled(Array.from({ length: 20 }, () => insert(-1)));

    for (const { status } of await late) expect(status).toBe('rejected');
    await insert(600_000);
    expect(sent()).toBe(1);
  });

  test('is repeated until its deadline; the next one is tried once, until one succeeds', async () => {
    for (const server of servers) server.inserts = 'refused';
    await expect(insert(1500)).rejects.toThrow('shard 1 of the cluster does not take writes');
    expect(sent()).toBeGreaterThan(2);

    // The last one that was sent before the deadline may arrive only now.
    const next = insert(600_000, 'points_2');
    await expect(next).rejects.toThrow('shard 1 of the cluster does not take writes');
    expect(sent('points_2')).toBe(2);

    for (const server of servers) server.inserts = 'stored';
    await insert(600_000);
    for (const server of servers) server.inserts = 'refused';
    const again = sent();
    await expect(insert(1500)).rejects.toThrow(Unreachable);
    expect(sent() - again).toBeGreaterThan(2);
  });
});
