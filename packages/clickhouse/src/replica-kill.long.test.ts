// Replicas that are killed and come back while points are written and read: what was acknowledged
// is there, once, and queries are answered all the time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ALL_TIME, Unavailable } from '@tidemark/core';
import { eachBatch } from '@tidemark/query';
import type { StorageEngine } from '@tidemark/storage';
import { hasPrograms } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openClickHouse, startCluster, stopCluster } from './index.ts';
import type { ClusterStatus } from './index.ts';
import { TEST_SETTINGS, testPolicy } from './testing/test-storage.ts';

const isComplete = hasPrograms('clickhouse-server', '/usr/share/zookeeper/bin/zkServer.sh');
const { clock } = TEST_SETTINGS;
const policy = testPolicy(1);
const { database } = policy;
const WRITERS = [0, 1, 2, 3];

describe.runIf(isComplete)('a shard of two replicas', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-kill-'));
  let status: ClusterStatus;

  const start = () =>
    startCluster({ directory, shards: 1, replicas: 2, environment: process.env, clock });
  const open = (): Promise<StorageEngine> =>
    openClickHouse({
      ...TEST_SETTINGS,
      urls: status.nodes.map(({ url }) => url),
    });

  beforeAll(async () => {
    status = await start();
  });
  afterAll(async () => {
    await stopCluster(directory, clock);
    rmSync(directory, { recursive: true, force: true });
  });

  /** Times by series, as often as they are delivered. */
  async function stored(engine: StorageEngine): Promise<readonly string[]> {
    const snapshot = engine.source.snapshot();
    const request = {
      source: { database, retentionPolicy: 'autogen', measurement: 'm' },
      timeRange: ALL_TIME,
      descending: false,
      groupBy: [],
      fields: [{ name: 'v', type: 'float' }],
    } as const;
    const times: string[] = [];
    const { signal } = new AbortController();
    for await (const batch of eachBatch(snapshot.scan(request, { signal })))
      for (const time of batch.times) times.push(`${batch.seriesKey}@${time}`);
    return times;
  }

  test('loses nothing and answers while one is away', async () => {
    const engine = await open();
    const acknowledged: string[] = [];
    const reasons: string[] = [];
    let isOver = false;
    let next = 0;
    const write = async (writer: number): Promise<void> => {
      while (!isOver) {
        const time = ++next;
        const body = Buffer.from(`m,w=${writer} v=1 ${time}`);
        try {
          await engine.writeLines({ policy, body, precision: 'ns', now: 0n });
          acknowledged.push(`m,w=${writer}@${time}`);
        } catch (error) {
          expect(error).toBeInstanceOf(Unavailable);
          reasons.push((error as Unavailable).message);
        }
      }
    };
    const writers = WRITERS.map(write);
    const until = async (count: number): Promise<void> => {
      while (acknowledged.length < count) await clock.sleep(20);
    };

    await until(40);
    process.kill(status.nodes[1]?.pid ?? 0, 'SIGKILL');
    // Until the shard says that it has too few replicas, and longer.
    while (reasons.length < WRITERS.length) {
      const before = [...acknowledged];
      const found = new Set(await stored(engine));
      expect(before.filter((one) => !found.has(one))).toEqual([]);
      await clock.sleep(100);
    }
    expect(reasons[0]).toContain('shard 1 of the cluster does not take writes');

    // A service that starts meanwhile takes what is there.
    const other = await open();
    const seen = [...acknowledged];
    const found = new Set(await stored(other));
    expect(seen.filter((one) => !found.has(one))).toEqual([]);

    status = await start();
    await until(acknowledged.length + 40);
    isOver = true;
    await Promise.all(writers);
    const last = await stored(other);
    expect(new Set(last).size).toBe(last.length);
    expect(acknowledged.filter((one) => !last.includes(one))).toEqual([]);
    await engine.close();
    await other.close();
  });
});
