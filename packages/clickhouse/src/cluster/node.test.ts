// What one ClickHouse process is told and what it answers, on a real one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Cancelled, Internal, LimitExceeded } from '@tidemark/core';
import { eventually, hasPrograms } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startCluster, stopCluster } from '../index.ts';
import { sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';
import { TEST_SETTINGS } from '../testing/test-storage.ts';
import { Cluster } from './cluster.ts';
import { Unreachable } from './failure.ts';
import { ClickHouseNode } from './node.ts';

const isComplete = hasPrograms('clickhouse-server', '/usr/share/zookeeper/bin/zkServer.sh');
const { clock } = TEST_SETTINGS;

describe.runIf(isComplete)('a ClickHouse process', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-node-'));
  let node: ClickHouseNode;

  beforeAll(async () => {
    const shape = { shards: 1, replicas: 1 };
    const { nodes } = await startCluster({
      directory,
      ...shape,
      environment: process.env,
      clock,
    });
    node = new ClickHouseNode(nodes[0]?.url ?? '');
  });
  afterAll(async () => {
    await node.close();
    await stopCluster(directory, clock);
    rmSync(directory, { recursive: true, force: true });
  });

  const running = async (text: string): Promise<number> => {
    const sql = `SELECT count() FROM system.processes WHERE position(query, ${sqlText(text)}) = 1`;
    return Number(new RowReader(await node.rows(sql)).uint64());
  };

  test('a cancelled statement ends there, too', async () => {
    const sql = 'SELECT sum(number) FROM system.numbers';
    const abort = new AbortController();
    const ended = node.rows(sql, { signal: abort.signal }).catch((error: unknown) => error);
    await eventually('the statement', async () => ((await running(sql)) > 0 ? true : undefined));

    abort.abort();

    expect(await ended).toBeInstanceOf(Cancelled);
    await eventually('its end', async () => ((await running(sql)) === 0 ? true : undefined));
  });

  test('a text arrives as it was, whatever it holds', async () => {
    for (const text of ["it's", '\\', '\\n\n\t', '\0', 'ü✓𝄞', '"`', "\\' OR 1 --"]) {
      const answer = await node.rows(`SELECT ${sqlText(text)}`);
      expect(new RowReader(answer).text()).toBe(text);
    }
  });

  test('errors say what can be done', async () => {
    const wide = 'SELECT groupArray(number) FROM numbers(100000000)';
    const settings = { max_memory_usage: 10_000_000 };
    const { cause: _, ...limit } = (await node
      .rows(wide, { settings })
      .catch((error) => error)) as {
      cause: unknown;
    };
    expect(limit).toMatchObject({ setting: 'coordinator.query-memory-limit' });
    await expect(node.rows(wide, { settings })).rejects.toBeInstanceOf(LimitExceeded);
    const cluster = await Cluster.open(
      { ...TEST_SETTINGS, urls: [node.url], readTimeoutMs: 1 },
      clock,
    );
    const late = cluster.rows(0, 'SELECT sum(number) FROM system.numbers');
    await expect(late).rejects.toMatchObject({ setting: 'coordinator.query-timeout' });
    await cluster.close();
    await expect(node.rows('SELECT nothing')).rejects.toBeInstanceOf(Internal);
    await expect(new ClickHouseNode('http://127.0.0.1:1').rows('SELECT 1')).rejects.toBeInstanceOf(
      Unreachable,
    );
  });
});
