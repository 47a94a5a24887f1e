// The removal of deleted rows in the background, on a real cluster: a delete hides them until the
// last replica has removed them and what servers held back can no longer arrive.
import { Unavailable } from '@tidemark/core';
import type { PolicyRef, PointStorage } from '@tidemark/storage-api';
import { eventually, hasPrograms } from '@tidemark/testkit';
import { describe, expect, test } from 'vitest';

import type { ClickHouseOptions, ClickHouseStorage } from './index.ts';
import { openGate } from './testing/gate.ts';
import { CLUSTER_PROGRAMS, useCluster } from './testing/test-cluster.ts';
import type { TestCluster } from './testing/test-cluster.ts';
import {
  SLOW_MS,
  storedRows,
  testPolicy,
  untilAccepted,
  untilWritten,
  writeLines,
} from './testing/test-storage.ts';

const FIRST = { start: 1n, end: 1n };

/** A front end that removes deleted rows. */
async function openRemover(
  cluster: TestCluster,
  options: Partial<ClickHouseOptions> = {},
): Promise<ClickHouseStorage> {
  const engine = await cluster.open({ ...options, sweepMs: 200 });
  await eventually('its lease', () => Promise.resolve(engine.leaseSignal()), SLOW_MS / 3);
  return engine;
}

describe.runIf(hasPrograms(...CLUSTER_PROGRAMS))('deleted rows', () => {
  const cluster = useCluster({ shards: 1, replicas: 2 });
  let policies = 0;
  const newPolicy = (): PolicyRef => testPolicy(++policies);

  async function run(url: string, body: string): Promise<string> {
    const answer = await fetch(url, { method: 'POST', body });
    const text = await answer.text();
    expect(text).not.toContain('Exception');
    return text.trim();
  }

  /** Points of a policy on each replica. */
  function storedCounts({ id }: PolicyRef): Promise<readonly string[]> {
    const sql = `SELECT count() FROM tidemark.points_${id} WHERE column != 0`;
    return Promise.all(cluster.urls.map((url) => run(url, sql)));
  }

  const untilRemoved = (policy: PolicyRef, replicas: readonly string[]): Promise<true> =>
    eventually(
      'the removal',
      async () => ((await storedCounts(policy)).join() === replicas.join() ? true : undefined),
      SLOW_MS / 3,
    );

  /** Ends with a sweep that has come past all earlier deletes. */
  async function sweepOnce(engine: PointStorage): Promise<void> {
    const policy = newPolicy();
    await untilWritten(engine, policy, 'm v=1 1');
    await engine.delete({ database: policy.database });
    await untilRemoved(policy, ['0', '0']);
  }

  test(
    'stay hidden while a replica has not removed them',
    async () => {
      const policy = newPolicy();
      const engine = await openRemover(cluster, { deleteKeptMs: 0 });
      await untilWritten(engine, policy, 'm v=1 1\nm v=2 2');
      const [, second = ''] = cluster.urls;
      await run(second, `SYSTEM STOP MERGES tidemark.points_${policy.id}`);
      await engine.delete({ database: policy.database, timeRange: FIRST });
      await untilRemoved(policy, ['1', '2']);
      await sweepOnce(engine);
      await engine.close();

      const other = await cluster.open();
      for (let i = 0; i < 4; i++) expect(await storedRows(other, policy)).toEqual(['m 2 2']);
      await run(second, `SYSTEM START MERGES tidemark.points_${policy.id}`);
      await other.close();
    },
    SLOW_MS,
  );

  test(
    'hide those of an insert that a server has held back until they were removed',
    async () => {
      const policy = newPolicy();
      const gates = await Promise.all(cluster.urls.map(openGate));
      const two = await openRemover(cluster);
      const one = await cluster.open({ urls: gates.map(({ url }) => url), writeTimeoutMs: 2000 });
      await untilWritten(one, policy, 'm v=1 1\nm v=2 2');
      for (const gate of gates)
        gate.hold((sql) => sql.startsWith('INSERT INTO') && sql.includes(`points_${policy.id}`));
      await expect(writeLines(one, policy, ['m v=3 1'])).rejects.toThrow(Unavailable);
      await two.delete({ database: policy.database, timeRange: FIRST });
      await untilRemoved(policy, ['1', '1']);
      await sweepOnce(two);
      await two.close();
      for (const gate of gates) await gate.release();
      expect((await storedCounts(policy)).join()).not.toBe('1,1');

      expect(await storedRows(one, policy)).toEqual(['m 2 2']);
      await one.close();
      for (const gate of gates) await gate.close();
    },
    SLOW_MS,
  );

  test(
    'of one policy go while those of another cannot',
    async () => {
      const [stuck, other] = [newPolicy(), newPolicy()];
      const engine = await cluster.open();
      for (const policy of [stuck, other]) {
        await untilWritten(engine, policy, 'm v=1 1');
        await engine.delete({ database: policy.database });
      }
      for (const url of cluster.urls) await run(url, `DROP TABLE tidemark.points_${stuck.id}`);
      await engine.close();

      const remover = await openRemover(cluster);
      await untilRemoved(other, ['0', '0']);
      await remover.close();
    },
    SLOW_MS,
  );

  test(
    'leave a series whose other rows arrive after it was marked as gone',
    async () => {
      const policy = newPolicy();
      const gates = await Promise.all(cluster.urls.map(openGate));
      const two = await openRemover(cluster, { deleteKeptMs: 0 });
      const one = await cluster.open({ urls: gates.map(({ url }) => url) });
      await untilWritten(one, policy, 'm,h=a v=1 1');
      for (const gate of gates)
        gate.hold((sql) => sql.startsWith('INSERT INTO') && sql.includes(`points_${policy.id}`));
      const late = writeLines(one, policy, ['m,h=a v=2 2']);
      await eventually('the insert', () =>
        Promise.resolve(gates.some(({ heldCount }) => heldCount > 0) || undefined),
      );
      await two.delete({ database: policy.database, timeRange: FIRST });
      for (const gate of gates) await gate.release();
      await late;

      await eventually(
        'its row',
        async () => (await storedRows(two, policy)).join() === 'm,h=a 2 2' || undefined,
        SLOW_MS / 3,
      );
      await one.close();
      await two.close();
      for (const gate of gates) await gate.close();
    },
    SLOW_MS,
  );
});

describe.runIf(hasPrograms(...CLUSTER_PROGRAMS))('pending deletes', () => {
  const cluster = useCluster({ shards: 1, replicas: 1 });

  test(
    'are limited, and writes and reads go on',
    async () => {
      const policy = testPolicy(1);
      const engine = await cluster.open({ pendingDeletesMax: 2 });
      await untilWritten(engine, policy, 'm v=1 1');
      const at = (time: bigint) => ({
        database: policy.database,
        timeRange: { start: time, end: time },
      });
      await engine.delete(at(1n));
      await engine.delete(at(2n));

      await expect(engine.delete(at(3n))).rejects.toThrow(
        'too many deletes wait until the cluster has removed the rows of earlier ones',
      );
      await expect(engine.delete(at(3n))).rejects.toThrow(Unavailable);
      await writeLines(engine, policy, ['m v=4 4']);
      expect(await storedRows(engine, policy)).toEqual(['m 4 4']);

      await engine.close();
      const remover = await openRemover(cluster, { deleteKeptMs: 0, pendingDeletesMax: 2 });
      // Refused until the removal has finished an earlier one.
      await untilAccepted(() => remover.delete(at(4n)));
      expect(await storedRows(remover, policy)).toEqual([]);
      await remover.close();
    },
    SLOW_MS,
  );
});
