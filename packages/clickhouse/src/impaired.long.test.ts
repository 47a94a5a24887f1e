// An impaired cluster: replicas that cannot take writes are reported quickly and by name, and a
// write that was refused never replaces one that was acknowledged later.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';

import { Unavailable } from '@tidemark/core';
import { CuttableLink, eventually, hasPrograms } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { seriesIdOf } from './ids.ts';
import type { NodeStatus } from './index.ts';
import { configurationOf } from './local-cluster/configuration.ts';
import { findPrograms } from './local-cluster/programs.ts';
import { openGate } from './testing/gate.ts';
import type { Gate } from './testing/gate.ts';
import { expectLateInsertToBeHidden, expectRefusedWriteToLose } from './testing/late-inserts.ts';
import { CLUSTER_PROGRAMS, useCluster } from './testing/test-cluster.ts';
import {
  SLOW_MS,
  storedRows,
  TEST_SETTINGS,
  testPolicy,
  untilAccepted,
  untilWritten,
  writeLines,
} from './testing/test-storage.ts';

/** Starts a server of the cluster again, with another way to ZooKeeper. */
async function restartOn(directory: string, node: NodeStatus, port: number) {
  process.kill(node.pid, 'SIGKILL');
  const path = configurationOf(directory, node.node);
  const text = readFileSync(path, 'utf8');
  const way = /(<zookeeper>\s*<node><host>[^<]*<\/host><port>)\d+/;
  writeFileSync(path, text.replace(way, `$1${port}`));
  const { clickhouseServer } = findPrograms(process.env);
  const isUp = (): Promise<true | undefined> =>
    fetch(`${node.url}/ping`).then(
      () => true as const,
      () => undefined,
    );
  await eventually('its end', async () => ((await isUp()) === undefined ? true : undefined));
  const server = spawn(clickhouseServer, [`--config-file=${path}`], { stdio: 'ignore' });
  await eventually('its start', isUp, SLOW_MS / 3);
  return {
    stop: async () => {
      server.kill('SIGKILL');
      await once(server, 'exit');
    },
  };
}

describe.runIf(hasPrograms(...CLUSTER_PROGRAMS))('an impaired cluster', () => {
  const cluster = useCluster({ shards: 1, replicas: 2 });
  let gates: readonly Gate[];

  beforeAll(async () => {
    gates = await Promise.all(cluster.urls.map(openGate));
  });
  afterAll(async () => {
    for (const gate of gates ?? []) await gate.close();
  });

  const twoFrontEnds = async () => ({
    gates,
    one: await cluster.open({ urls: gates.map(({ url }) => url), writeTimeoutMs: 2000 }),
    two: await cluster.open(),
  });

  test(
    'a write that was refused loses against one that was acknowledged later',
    async () => expectRefusedWriteToLose(testPolicy(1), await twoFrontEnds()),
    SLOW_MS,
  );

  test(
    'an insert that lands behind a delete is hidden by it',
    async () => expectLateInsertToBeHidden(testPolicy(2), await twoFrontEnds()),
    SLOW_MS,
  );

  test(
    'a delete that was refused deletes nothing later',
    async () => {
      const policy = testPolicy(5);
      const { database } = policy;
      const one = await cluster.open({ urls: gates.map(({ url }) => url) });
      const two = await cluster.open();
      await writeLines(one, policy, ['m v=1 1']);
      for (const gate of gates) gate.hold((sql) => sql.includes('CREATE TABLE'));
      const refused = one.delete({ database, measurements: ['m'] });
      await expect(refused).rejects.toThrow(Unavailable);
      for (const gate of gates) gate.hold(() => false);
      // This front end settles what becomes of it before it writes again.
      await untilWritten(one, policy, 'm v=2 2');
      for (const gate of gates) await gate.release();
      await writeLines(two, policy, ['m v=3 3']);

      expect(await storedRows(two, policy)).toEqual(['m 1 1', 'm 2 2', 'm 3 3']);
      await one.close();
      await two.close();
    },
    SLOW_MS,
  );

  test(
    'requests that wait behind a write that hangs are refused with it, and never stored',
    async () => {
      const policy = testPolicy(3);
      const one = await cluster.open({ urls: gates.map(({ url }) => url), writeTimeoutMs: 2000 });
      await untilWritten(one, policy, 'm v=1 1');
      for (const gate of gates) gate.hold((sql) => sql.includes('DROP PARTITION ID'));

      const writes = [2, 3, 4].map((v) => writeLines(one, policy, [`m v=${v} ${v}`]));
      // Timers end in their order: this is when the service would answer with 500.
      const late = TEST_SETTINGS.clock.sleep(2000).then(() => []);
      const outcomes = await Promise.race([Promise.allSettled(writes), late]);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
      for (const gate of gates) await gate.release();
      await untilWritten(one, policy, 'm v=5 5');

      expect(await storedRows(one, policy)).toEqual(['m 1 1', 'm 5 5']);
      await one.close();
    },
    SLOW_MS,
  );

  test(
    'a write that waits for the series of its database is refused in time',
    async () => {
      const policy = { ...testPolicy(6), maxSeriesPerDatabase: 10 };
      const two = await cluster.open();
      await untilWritten(two, policy, 'm v=1 1');
      const one = await cluster.open({ urls: gates.map(({ url }) => url), writeTimeoutMs: 2000 });
      for (const gate of gates) gate.hold((sql) => sql.includes('groupUniqArray(series)'));

      const late = TEST_SETTINGS.clock.sleep(2000).then(() => 'a timeout');
      await expect(Promise.race([writeLines(one, policy, ['m v=2 2']), late])).rejects.toThrow(
        Unavailable,
      );
      for (const gate of gates) await gate.release();
      await untilWritten(one, policy, 'm v=3 3');

      expect(await storedRows(one, policy)).toEqual(['m 1 1', 'm 3 3']);
      await one.close();
      await two.close();
    },
    SLOW_MS,
  );

  test(
    'a replica that answers and has lost ZooKeeper is named when it has been silent for too long',
    async () => {
      const policy = testPolicy(4);
      const [first] = cluster.status.nodes;
      const { port } = new URL(`http://${cluster.status.zookeeper.address}`);
      const link = await CuttableLink.open(Number(port));
      const server = await restartOn(cluster.directory, first!, link.port);
      const engine = await cluster.open({ pingTimeoutMs: 2000 });
      try {
        await untilWritten(engine, policy, 'm v=1 1');
        link.cut();

        const refused = await writeLines(engine, policy, ['m v=2 2']).catch(
          (error: unknown) => error,
        );
        expect(refused).toBeInstanceOf(Unavailable);
        // Only the probe of this replica reports it, because the time limit has not passed.
        expect(String(refused)).toContain(
          `shard 1 of the cluster does not take writes: ClickHouse does not take writes. url=\`${first?.url}\``,
        );
        expect(await storedRows(engine, policy)).toContain('m 1 1');
        expect(await engine.replicas()).toMatchObject([
          { url: first?.url, isUp: true, takesWrites: false },
          { isUp: true, takesWrites: true },
        ]);

        link.restore();
        await untilWritten(engine, policy, 'm v=3 3');
        expect(await storedRows(engine, policy)).toEqual(
          expect.arrayContaining(['m 1 1', 'm 3 3']),
        );
        await eventually('both replicas', async () =>
          (await engine.replicas()).every(({ takesWrites }) => takesWrites) ? true : undefined,
        );
      } finally {
        await engine.close();
        await server.stop();
        await link.close();
      }
    },
    SLOW_MS,
  );
});

describe.runIf(hasPrograms(...CLUSTER_PROGRAMS))('one of two shards that is away', () => {
  const cluster = useCluster({ shards: 2, replicas: 1 });

  test(
    'leaves no row of a refused request for a later insert into the other one',
    async () => {
      const policy = testPolicy(1);
      const gates = await Promise.all(cluster.urls.map(openGate));
      const [gate] = gates;
      const isTick = (sql: string) => sql.includes('DROP PARTITION ID');
      const isHeld = () =>
        eventually('the version', async () => (gate?.heldCount === 1 ? true : undefined));
      const [a, b] = [0n, 1n].map((shard) => {
        const hosts = Array.from({ length: 64 }, (_, i) => `m,h=${i}`);
        return hosts.find((key) => seriesIdOf(Buffer.from(key)) % 2n === shard);
      });
      const one = await cluster.open({ urls: gates.map(({ url }) => url) });
      const two = await cluster.open();
      await untilAccepted(() => writeLines(one, policy, [`${a} v=1 1`, `${b} v=1 1`]));
      process.kill(cluster.status.nodes[1]?.pid ?? 0, 'SIGKILL');
      gate?.hold(isTick);

      const sent = writeLines(one, policy, [`${b} v=2 1`]);
      await isHeld();
      const waiting = writeLines(one, policy, [`${a} v=2 1`, `${b} v=2 1`]);
      const other = writeLines(one, policy, [`${a} v=9 9`]);
      const refused = Promise.allSettled([sent, waiting]);
      await gate?.release();
      gate?.hold(isTick);
      expect((await refused).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      await isHeld();
      await untilWritten(two, policy, `${a} v=3 1`);
      await gate?.release();
      await other;

      await cluster.mend();
      const found = await untilAccepted(() => storedRows(two, policy));
      expect(found).toEqual(expect.arrayContaining([`${a} 1 3`, `${a} 9 9`]));
      await one.close();
      await two.close();
      for (const each of gates) await each.close();
    },
    SLOW_MS,
  );
});
