// Deletes on a real cluster: they hide older rows at once, completely or not at all, whatever is
// unreachable; their rows are removed in the background while others write.
import { MIN_TIME } from '@tidemark/core';
import type { PolicyRef, PointStorage } from '@tidemark/storage-api';
import { eventually, hasPrograms } from '@tidemark/testkit';
import { describe, expect, test } from 'vitest';

import { CLUSTER_PROGRAMS, useCluster } from './testing/test-cluster.ts';
import {
  SLOW_MS,
  storedRows,
  testPolicy,
  untilAccepted,
  WEEK,
  writeLines,
} from './testing/test-storage.ts';

const HOSTS = Array.from({ length: 10 }, (_, i) => `h${i}`);

describe.runIf(hasPrograms(...CLUSTER_PROGRAMS))('deletes on a cluster', () => {
  const cluster = useCluster({ shards: 2, replicas: 2 });

  /** Points of a policy that the first replica of each shard stores. */
  async function storedCount(policy: PolicyRef): Promise<number> {
    const table = `tidemark.points_${policy.id}`;
    const counts = [0, 2].map(async (node) => {
      const body = `SELECT uniqExact(column, series, time) FROM ${table} WHERE column != 0`;
      const answer = await fetch(cluster.urls[node] ?? '', { method: 'POST', body });
      return Number(await answer.text());
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }

  test(
    'hide rows of one shard group while writes to both go on, and remove them behind it',
    async () => {
      const policy = testPolicy(1);
      const { database } = policy;
      const engine = await cluster.open({ sweepMs: 500, deleteKeptMs: 0 });
      const at = (week: bigint, value: number) =>
        HOSTS.map((host) => `m,h=${host} v=${value} ${WEEK * week}`);
      await writeLines(engine, policy, [...at(1n, 1), ...at(5n, 2)]);

      const timeRange = { start: MIN_TIME, end: WEEK * 2n };
      const deleting = engine.delete({ database, measurements: ['m'], timeRange });
      for (let i = 0; i < 5; i++) await writeLines(engine, policy, at(5n, 3 + i));
      await deleting;

      expect(await storedRows(engine, policy)).toEqual(
        HOSTS.map((host) => `m,h=${host} ${WEEK * 5n} 7`),
      );
      await writeLines(engine, policy, ['m,h=h0 v=9 1']);
      expect(await storedRows(engine, policy)).toContain('m,h=h0 1 9');
      await eventually(
        'the removal',
        async () => ((await storedCount(policy)) === 11 ? true : undefined),
        60_000,
      );
      await engine.close();
    },
    SLOW_MS,
  );

  test('of the newest point of a series bring no older value back', async () => {
    const policy = testPolicy(2);
    const { database } = policy;
    const engine = await cluster.open();
    await writeLines(engine, policy, ['m,h=a v=1 1']);
    await writeLines(engine, policy, ['m,h=a v=2 1']);
    await engine.delete({ database, timeRange: { start: 1n, end: 1n } });
    expect(await storedRows(engine, policy)).toEqual([]);
    await writeLines(engine, policy, ['m,h=a v=3 1', 'm,h=a v=4 2']);
    expect(await storedRows(engine, policy)).toEqual(['m,h=a 1 3', 'm,h=a 2 4']);
    await engine.close();
  });

  test(
    'of a measurement cover all shards or none while a replica is away',
    async () => {
      const policy = testPolicy(3);
      const { database } = policy;
      const engine = await cluster.open({ sweepMs: 500, deleteKeptMs: 0 });
      const hosts = Array.from({ length: 100 }, (_, i) => `m,h=${i} v=1 1`);
      await writeLines(engine, policy, hosts);
      expect(await storedRows(engine, policy)).toHaveLength(100);
      process.kill(cluster.status.nodes[3]?.pid ?? 0, 'SIGKILL');
      try {
        const isDropped = await engine.dropMeasurement(database, 'm').then(
          () => true,
          () => false,
        );
        expect(await storedRows(engine, policy)).toHaveLength(isDropped ? 0 : 100);
      } finally {
        await cluster.mend();
      }
      await untilAccepted(() => engine.dropMeasurement(database, 'm'));
      expect(await storedRows(engine, policy)).toEqual([]);
      // Its fields are free for other types, and no old value has become one of them.
      await eventually(
        'a write',
        () =>
          writeLines(engine, policy, ['m,h=1 v="x" 2']).then(
            ({ dropped }) => (dropped === undefined ? true : undefined),
            () => undefined,
          ),
        60_000,
      );
      expect(await storedRows(engine, policy, 'string')).toEqual(['m,h=1 2 x']);
      await eventually(
        'the removal',
        async () => ((await storedCount(policy)) === 1 ? true : undefined),
        60_000,
      );
      expect(await storedRows(engine, policy, 'string')).toEqual(['m,h=1 2 x']);
      await engine.close();
    },
    SLOW_MS,
  );

  test(
    'by tags hide points on every front end, and what comes from it later is visible',
    async () => {
      const policy = testPolicy(4);
      const { database } = policy;
      const [one, two] = await Promise.all([cluster.open({ sweepMs: 500 }), cluster.open()]);
      const where = { kind: 'tag', key: 'h', operator: '=', value: 'h3' } as const;
      const counts = (storage: PointStorage): Promise<readonly string[]> =>
        storedRows(storage, policy);
      for (let round = 1; round <= 5; round++) {
        const lines = HOSTS.map((host) => `m,h=${host} v=${round} ${round}`);
        await writeLines(one, policy, lines);
        await two.delete({ database, measurements: ['m'], where });
        // Its own write comes behind the delete, although it has not heard of it.
        await writeLines(one, policy, [`m,h=h3 v=100 ${round}`]);

        const expected = [
          ...HOSTS.filter((host) => host !== 'h3').flatMap((host) =>
            Array.from({ length: round }, (_, i) => `m,h=${host} ${i + 1} ${i + 1}`),
          ),
          `m,h=h3 ${round} 100`,
        ].sort();
        expect([...(await counts(two))].sort()).toEqual(expected);
        expect([...(await counts(one))].sort()).toEqual(expected);
      }
      await one.close();
      const late = await cluster.open();
      expect(await counts(late)).toEqual(await counts(two));
      await late.close();
      await two.close();
    },
    SLOW_MS,
  );
});
