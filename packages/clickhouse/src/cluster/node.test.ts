// Requests to a real ClickHouse process, and its responses.
import { Cancelled, Internal, LimitExceeded } from '@tidemark/core';
import { eventually, hasPrograms } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { sqlText } from '../sql/literals.ts';
import { RowReader } from '../sql/row-binary.ts';
import { CLUSTER_PROGRAMS, useCluster } from '../testing/test-cluster.ts';
import { TEST_SETTINGS } from '../testing/test-storage.ts';
import { Cluster } from './cluster.ts';
import { Unreachable } from './failure.ts';
import { ClickHouseNode } from './node.ts';

const { clock } = TEST_SETTINGS;

describe.runIf(hasPrograms(...CLUSTER_PROGRAMS))('a ClickHouse process', () => {
  const server = useCluster({ shards: 1, replicas: 1 });
  let node: ClickHouseNode;

  beforeAll(() => {
    node = new ClickHouseNode(server.urls[0] ?? '', TEST_SETTINGS);
  });
  afterAll(() => node?.close());

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
    await expect(
      new ClickHouseNode('http://127.0.0.1:1', TEST_SETTINGS).rows('SELECT 1'),
    ).rejects.toBeInstanceOf(Unreachable);
  });
});
