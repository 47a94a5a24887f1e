// Replicas that are killed, hang or lag, and come back: acknowledged rows exist exactly once, and
// queries are answered all the time.
import { Unavailable } from '@tidemark/core';
import { eventually, hasPrograms } from '@tidemark/testkit';
import { describe, expect, test } from 'vitest';

import { CLUSTER_PROGRAMS, useCluster } from './testing/test-cluster.ts';
import {
  SLOW_MS,
  storedRows,
  TEST_SETTINGS,
  testPolicy,
  untilWritten,
  writeLines,
} from './testing/test-storage.ts';

const { clock } = TEST_SETTINGS;
const WRITERS = [0, 1, 2, 3];

describe.runIf(hasPrograms(...CLUSTER_PROGRAMS))('a shard of two replicas', () => {
  const cluster = useCluster({ shards: 1, replicas: 2 });

  test('loses nothing and answers while one is away', async () => {
    const policy = testPolicy(1);
    const engine = await cluster.open();
    const acknowledged: string[] = [];
    const reasons: string[] = [];
    let isOver = false;
    let next = 0;
    const write = async (writer: number): Promise<void> => {
      while (!isOver) {
        const time = ++next;
        try {
          await writeLines(engine, policy, [`m,w=${writer} v=1 ${time}`]);
          acknowledged.push(`m,w=${writer} ${time} 1`);
        } catch (error) {
          expect(error, String(error)).toBeInstanceOf(Unavailable);
          reasons.push((error as Unavailable).message);
        }
      }
    };
    const writers = WRITERS.map(write);
    const until = async (count: number): Promise<void> => {
      while (acknowledged.length < count) await clock.sleep(20);
    };

    await until(40);
    process.kill(cluster.status.nodes[1]?.pid ?? 0, 'SIGKILL');
    // Until the shard says that it has too few replicas, and longer.
    while (reasons.length < WRITERS.length) {
      const before = [...acknowledged];
      const found = new Set(await storedRows(engine, policy));
      expect(before.filter((one) => !found.has(one))).toEqual([]);
      await clock.sleep(100);
    }
    expect(reasons[0]).toContain('shard 1 of the cluster does not take writes');

    // A service that starts meanwhile takes what is there.
    const other = await cluster.open();
    const seen = [...acknowledged];
    const found = new Set(await storedRows(other, policy));
    expect(seen.filter((one) => !found.has(one))).toEqual([]);

    await cluster.mend();
    await until(acknowledged.length + 40);
    isOver = true;
    await Promise.all(writers);
    const last = await storedRows(other, policy);
    expect(new Set(last).size).toBe(last.length);
    expect(acknowledged.filter((one) => !last.includes(one))).toEqual([]);
    await engine.close();
    await other.close();
  });

  const replica = (index: number): number => cluster.status.nodes[index]?.pid ?? 0;

  /** Does something while processes hang: they take connections and say nothing. */
  async function whileHanging(pids: readonly number[], work: () => Promise<void>) {
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    try {
      await work();
    } finally {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    }
  }

  test(
    'asks the other one while one hangs, and both again when it answers',
    { timeout: SLOW_MS },
    async () => {
      const policy = testPolicy(2);
      const pingTimeoutMs = 500;
      const told: string[] = [];
      const engine = await cluster.open({
        pingTimeoutMs,
        log: (level, message) => void told.push(`${level} ${message}`),
      });
      await untilWritten(engine, policy, 'm v=1 1');
      told.length = 0;

      await whileHanging([replica(0)], async () => {
        // Each is the first to be asked in turn, so that some of these meet the one that hangs.
        for (let i = 0; i < 4; i++) expect(await storedRows(engine, policy)).toEqual(['m 1 1']);
        const other = await cluster.open({ pingTimeoutMs });
        expect(await storedRows(other, policy)).toEqual(['m 1 1']);
        await other.close();
        const refused = writeLines(engine, policy, ['m v=2 2']);
        await expect(refused).rejects.toThrow('shard 1 of the cluster does not take writes');
        expect(await engine.replicas?.()).toMatchObject([
          { isUp: false, reason: expect.stringContaining('does not answer') as string },
          { isUp: true },
        ]);
      });

      const following = 'follow the shared log of the services';
      await whileHanging([replica(0), replica(1)], async () => {
        await expect(storedRows(engine, policy)).rejects.toThrow(
          'shard 1 of the cluster does not answer: ClickHouse does not answer',
        );
        await eventually('the outage', async () =>
          told.includes(`warn failed to ${following}: the cluster is unreachable; will be retried`)
            ? true
            : undefined,
        );
      });
      await untilWritten(engine, policy, 'm v=3 3');
      await eventually('its end', async () =>
        told.includes(`info the next attempt to ${following} has succeeded`) ? true : undefined,
      );
      expect(told.filter((line) => line.startsWith('error'))).toEqual([]);
      const found = await storedRows(engine, policy);
      expect(new Set(found).size).toBe(found.length);
      expect(found).toEqual(expect.arrayContaining(['m 1 1', 'm 3 3']));
      await eventually('both replicas', async () =>
        (await engine.replicas?.())?.every(({ isUp }) => isUp) === true ? true : undefined,
      );
      await engine.close();
    },
  );

  test(
    'goes on answering while ZooKeeper hangs, and takes writes when it answers',
    { timeout: SLOW_MS },
    async () => {
      const policy = testPolicy(4);
      const engine = await cluster.open();
      await untilWritten(engine, policy, 'm v=1 1');

      await whileHanging([cluster.status.zookeeper.pid], async () => {
        const refused = writeLines(engine, policy, ['m v=2 2']);
        expect(await storedRows(engine, policy)).toEqual(['m 1 1']);
        await expect(refused).rejects.toThrow('the cluster does not take writes');
        expect(await storedRows(engine, policy)).toContain('m 1 1');
      });

      await untilWritten(engine, policy, 'm v=3 3');
      expect(await storedRows(engine, policy)).toEqual(expect.arrayContaining(['m 1 1', 'm 3 3']));
      await engine.close();
    },
  );

  test('takes no more writes than may wait while the cluster does not keep up', async () => {
    const policy = testPolicy(3);
    const engine = await cluster.open({ writeQueueMaxBytes: 20_000 });
    await untilWritten(engine, policy, 'm v=0 0');
    const outcomes: Promise<PromiseSettledResult<unknown>[]>[] = [];

    await whileHanging([replica(0), replica(1)], async () => {
      const writes = Array.from({ length: 100 }, (_, i) =>
        writeLines(
          engine,
          policy,
          Array.from({ length: 20 }, (_, j) => `m,w=${i} v=${j} ${j}`),
        ),
      );
      outcomes.push(Promise.allSettled(writes));
      await expect(writes.at(-1)).rejects.toThrow('setting=`data.write-queue-max-size`');
      await expect(writes.at(-1)).rejects.toBeInstanceOf(Unavailable);
    });

    const [settled = []] = await Promise.all(outcomes);
    const taken = settled.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []));
    expect(taken.length).toBeGreaterThan(1);
    expect(taken.length).toBeLessThan(60);
    const found = await storedRows(engine, policy);
    expect(found).toHaveLength(taken.length * 20 + 1);
    expect(found).toEqual(expect.arrayContaining(taken.map((i) => `m,w=${i} 19 19`)));
    await untilWritten(engine, policy, 'm v=1 1');
    await engine.close();
  });
});
