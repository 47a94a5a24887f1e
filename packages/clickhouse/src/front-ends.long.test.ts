// Several front ends on one cluster: each sees the changes of the others, concurrent changes are
// decided once, and one of them has the lease.
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { eachBatch } from '@tidemark/query';
import type { PolicyRef } from '@tidemark/storage-api';
import { hasPrograms } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import type { ClickHouseStorage } from './index.ts';
import { CLUSTER_PROGRAMS, useCluster } from './testing/test-cluster.ts';
import { storedRows, testPolicy, writeLines } from './testing/test-storage.ts';

const SOON = { timeout: 20_000, interval: 50 };

describe.runIf(hasPrograms(...CLUSTER_PROGRAMS))('front ends of one cluster', () => {
  const cluster = useCluster({ shards: 1, replicas: 2 });
  let one: ClickHouseStorage;
  let two: ClickHouseStorage;
  let policies = 0;

  beforeAll(async () => {
    [one, two] = await Promise.all([cluster.open(), cluster.open()]);
  });
  afterAll(async () => {
    await one?.close();
    await two?.close();
  });

  const newPolicy = (): PolicyRef => testPolicy(++policies);

  test('agree on shard groups and types that both want at once', async () => {
    for (let round = 0; round < 4; round++) {
      const policy = newPolicy();
      const outcomes = await Promise.all([
        writeLines(one, policy, ['m,h=a v=1 1', 'm,h=a v=1 2']),
        writeLines(two, policy, ['m,h=b v="x" 1', 'm,h=c w=1 1']),
      ]);

      const dropped = outcomes.flatMap((outcome) => outcome.dropped ?? []);
      expect(dropped).toHaveLength(1);
      expect(dropped[0]?.reason).toContain('already exists as type');
      const groups = await Promise.all([one, two].map((each) => each.shards()));
      await vi.waitFor(async () => {
        const [first, second] = await Promise.all([one, two].map((each) => each.shards()));
        const own = (all = groups[0]) => all?.filter(({ policyId }) => policyId === policy.id);
        expect(own(first)).toHaveLength(1);
        expect(own(second)?.map(({ id }) => id)).toEqual(own(first)?.map(({ id }) => id));
      }, SOON);
      await vi.waitFor(async () =>
        expect(await storedRows(two, policy)).toEqual(await storedRows(one, policy)),
      );
    }
  });

  test('see writes, deletes and drops of each other, and write again what went', async () => {
    const policy = newPolicy();
    const { database } = policy;
    await writeLines(one, policy, ['m,h=a v=1 1']);
    await vi.waitFor(async () => expect(await storedRows(two, policy)).toHaveLength(1), SOON);
    await writeLines(two, policy, ['m,h=a v=2 2']);

    await two.delete({ database, measurements: ['m'] });
    expect(await storedRows(two, policy)).toEqual([]);
    await vi.waitFor(async () => expect(await storedRows(one, policy)).toEqual([]), SOON);
    await vi.waitFor(async () => {
      await writeLines(one, policy, ['m,h=a v=3 3']);
      expect(await storedRows(two, policy)).toEqual(['m,h=a 3 3']);
    }, SOON);

    await one.dropMeasurement(database, 'm');
    await vi.waitFor(async () => {
      expect(await writeLines(two, policy, ['m,h=a v="x" 4'])).not.toHaveProperty('dropped.count');
    }, SOON);
    await two.dropPolicy(policy.id);
    await vi.waitFor(
      async () =>
        expect((await one.shards()).map(({ policyId }) => policyId)).not.toContain(policy.id),
      SOON,
    );
  });

  test('know the tags that others write and delete', async () => {
    const policy = newPolicy();
    const tags = async (storage: ClickHouseStorage): Promise<readonly string[]> => {
      const { signal } = new AbortController();
      const filter = { database: policy.database, measurements: ['m'] };
      const batches = storage.source.snapshot().schema({ kind: 'names', filter }, { signal });
      const found: string[] = [];
      for await (const batch of eachBatch(batches))
        if (batch.kind === 'names') found.push(...batch.tags);
      return found;
    };
    await writeLines(one, policy, ['m,h=a v=1 1']);
    expect(await tags(one)).toEqual(['h']);
    await writeLines(one, policy, ['m,h=a,k=b v=1 1']);
    await vi.waitFor(async () => expect(await tags(two)).toEqual(['h', 'k']), SOON);

    const where = { kind: 'tag', key: 'k', operator: '=', value: 'b' } as const;
    await two.delete({ database: policy.database, where });
    expect(await tags(two)).toEqual(['h']);
    await vi.waitFor(async () => expect(await tags(one)).toEqual(['h']), SOON);

    await writeLines(one, policy, ['m,h=a,k=b v=1 1']);
    expect(await tags(one)).toEqual(['h', 'k']);
    await vi.waitFor(async () => expect(await tags(two)).toEqual(['h', 'k']), SOON);
  });

  test('change one text, each upon what the other has made of it', async () => {
    const add = (storage: ClickHouseStorage, word: string) =>
      storage.catalog.change(() => `${storage.catalog.text ?? ''}${word}`);
    const words = ['a', 'b', 'c', 'd', 'e', 'f'];
    const told: string[] = [];
    two.catalog.onChange(() => told.push(two.catalog.text ?? ''));

    await Promise.all(words.map((word, i) => add(i % 2 === 0 ? one : two, word)));

    const text = (): readonly string[] => [...(one.catalog.text ?? '')].sort();
    await vi.waitFor(() => expect(two.catalog.text).toBe(one.catalog.text), SOON);
    expect(text()).toEqual(words);
    expect(told).toHaveLength(words.length);
    await expect(
      one.catalog.change(() => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    const late = await cluster.open();
    expect(late.catalog.text).toBe(one.catalog.text);
    await late.close();
  });

  test('begin with what tables hold that were put back from a backup', async () => {
    const policy = newPolicy();
    await writeLines(one, policy, ['m,h=a v=1 1', 'm,h=b v=2 2']);
    await one.catalog.change(() => 'backed up');
    const home = join(cluster.directory, 'shard1-replica1/data');
    const [first = '', second = ''] = cluster.urls;
    const run = async (url: string, sql: string): Promise<string> => {
      const answer = await fetch(url, { method: 'POST', body: sql });
      const text = await answer.text();
      expect(text).not.toContain('Exception');
      return text.trim();
    };
    const names = await run(
      first,
      `SELECT name FROM system.tables WHERE database = 'tidemark'
         AND NOT startsWith(name, 'place_') AND name NOT IN ('beats', 'clock')`,
    );
    for (const name of names.split('\n')) {
      await run(first, `ALTER TABLE tidemark.${name} FREEZE`);
      const shadow = join(
        home,
        'shadow',
        readFileSync(join(home, 'shadow/increment.txt'), 'utf8').trim(),
      );
      const made = await run(first, `SHOW CREATE TABLE tidemark.${name} FORMAT TSVRaw`);
      for (const url of [first, second]) {
        await run(url, 'CREATE DATABASE IF NOT EXISTS restored');
        await run(
          url,
          made
            .replace('tidemark.', 'restored.')
            .replace('/tidemark/tidemark/', '/tidemark/restored/'),
        );
      }
      const parts = join(shadow, 'data/tidemark', name);
      for (const part of existsSync(parts) ? readdirSync(parts) : []) {
        cpSync(join(parts, part), join(home, 'data/restored', name, 'detached', part), {
          recursive: true,
        });
        await run(first, `ALTER TABLE restored.${name} ATTACH PART '${part}'`);
      }
    }

    const restored = await cluster.open({ database: 'restored' });
    expect(restored.catalog.text).toBe('backed up');
    expect(await storedRows(restored, policy)).toEqual(await storedRows(one, policy));
    await writeLines(restored, policy, ['m,h=c v=3 3']);
    await restored.catalog.change(() => 'changed');
    await restored.close();
    const again = await cluster.open({ database: 'restored' });
    expect(again.catalog.text).toBe('changed');
    expect(await storedRows(again, policy)).toHaveLength(3);
    await again.close();
  });

  test('one has the lease, and gives it to another one when it ends', async () => {
    const holders = () => [one, two].filter((each) => each.leaseSignal() !== undefined);
    await vi.waitFor(() => expect(holders()).toHaveLength(1), SOON);
    const [holder] = holders();
    const signal = holder?.leaseSignal();

    await holder?.close();
    expect(signal?.aborted).toBe(true);
    const other = holder === one ? two : one;
    await vi.waitFor(() => expect(other.leaseSignal()?.aborted).toBe(false), SOON);

    const again = await cluster.open();
    if (holder === one) one = again;
    else two = again;
    expect(again.leaseSignal()).toBeUndefined();
  });
});
