// A local cluster through the executable: real ZooKeeper, real ClickHouse.
import {
  eventually,
  hasPrograms,
  makeDirectory,
  removeDirectory,
  runTidemark,
} from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

type Status = {
  readonly nodes: readonly {
    readonly node: string;
    readonly shard: number;
    readonly replica: number;
    readonly url: string;
    readonly pid: number;
    readonly isUp: boolean;
  }[];
  readonly zookeeper: { readonly pid: number };
};

const isComplete = hasPrograms('clickhouse-server', '/usr/share/zookeeper/bin/zkServer.sh');

describe.runIf(isComplete)('a local cluster', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await makeDirectory();
  });
  afterAll(async () => {
    await cluster('down');
    await removeDirectory(directory);
  });

  const cluster = (verb: string, ...more: readonly string[]) =>
    runTidemark(['cluster', verb, '--dir', directory, ...more]);
  const status = async (): Promise<Status> =>
    JSON.parse((await cluster('status', '--json')).stdout) as Status;
  const ask = async (url: string, sql: string): Promise<string> =>
    (await fetch(url, { method: 'POST', body: sql })).text();

  const answer = async (url: string, wanted: string): Promise<true | undefined> =>
    (await ask(url, 'SELECT a FROM t')) === wanted ? true : undefined;

  test('starts, replicates, is mended after a kill, and ends', async () => {
    const up = await cluster('up');

    expect(up.stderr).toBe('');
    const ready = /^ready clickhouse=(\S+) zookeeper=127\.0\.0\.1:\d+\n$/.exec(up.stdout);
    const urls = ready?.[1]?.split(',') ?? [];
    const { nodes } = await status();
    expect(nodes.map(({ shard, replica, url }) => [shard, replica, url])).toEqual([
      [1, 1, urls[0]],
      [1, 2, urls[1]],
      [2, 1, urls[2]],
      [2, 2, urls[3]],
    ]);

    const [first = '', second = '', third = ''] = urls;
    await ask(
      first,
      `CREATE TABLE t ON CLUSTER tidemark (a UInt8)
       ENGINE = ReplicatedMergeTree('/t/{shard}', '{replica}') ORDER BY a`,
    );
    await ask(first, 'INSERT INTO t VALUES (7)');
    await eventually('the other replica', () => answer(second, '7\n'));
    expect(await ask(third, 'SELECT a FROM t')).toBe('');

    process.kill(nodes[1]?.pid ?? 0, 'SIGKILL');
    await eventually('the end of a process', async () =>
      (await cluster('status')).status === 1 ? true : undefined,
    );
    const again = await cluster('up');

    expect(again.stdout).toBe(up.stdout);
    const mended = await status();
    expect(mended.nodes.map(({ isUp }) => isUp)).toEqual([true, true, true, true]);
    expect(mended.nodes[0]?.pid).toBe(nodes[0]?.pid);
    await eventually('what it has stored', () => answer(second, '7\n'));

    expect(await cluster('down')).toMatchObject({ status: 0, stderr: '' });
    expect((await status()).nodes.map(({ isUp }) => isUp)).toEqual([false, false, false, false]);
    for (const { url } of mended.nodes) await expect(ask(url, 'SELECT 1')).rejects.toThrow();
  });

  test('says what is wrong with a command line', async () => {
    const other = await cluster('up', '--shards', '3');
    expect(other.status).toBe(1);
    expect(other.stderr).toContain('has 2 shards of 2 replicas: leave out --shards');

    const none = await runTidemark(['cluster', 'status', '--dir', `${directory}/none`]);
    expect(none).toMatchObject({ status: 1 });
    expect(none.stderr).toContain('tidemark cluster up --dir');

    const large = ['--dir', `${directory}/many`, '--shards', '100'];
    const many = await runTidemark(['cluster', 'up', ...large]);
    expect(many.stderr).toContain('--shards times --replicas has to be from 1 to 32: 100 × 2');
  });
});
