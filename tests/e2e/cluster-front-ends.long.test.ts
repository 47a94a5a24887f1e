// Two database services on one cluster of two shards, through the executable: each sees the other's
// changes, continuous queries run on one of them, and failures have the documented effects.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { TsdbClient } from '@tidemark/client';
import { Conflict, NotFound } from '@tidemark/core';
import {
  eventually,
  EXECUTABLE,
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  runTidemark,
  send,
  startTidemark,
  TcpBalancer,
  TestServer,
  write,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

type Status = {
  readonly nodes: readonly { readonly shard: number; readonly pid: number; readonly url: string }[];
  readonly zookeeper: { readonly pid: number };
};

/** Servers of the cluster start several times, on a machine with other work. */
const SLOW_MS = 180_000;

/** Rows of a shard that take a while to read. */
const MANY = 10_000_000;

const isComplete = hasPrograms('clickhouse-server', '/usr/share/zookeeper/bin/zkServer.sh');

describe.runIf(isComplete)('two services on a cluster', () => {
  let directory: string;
  let urls: string;
  let one: Tidemark;
  let two: Tidemark;

  const cluster = (verb: string, ...more: readonly string[]) =>
    runTidemark(['cluster', verb, '--dir', directory, ...more]);
  const start = (...more: readonly string[]): Promise<Tidemark> =>
    startTidemark({
      command: 'tsdb',
      args: [
        '--monitor-store-enabled=false',
        '--retention-check-interval=1s',
        '--storage-engine=clickhouse',
        `--clickhouse-urls=${urls}`,
        ...more,
      ],
    });
  /** The response of a single server of the cluster, line by line. */
  const sql = async (url: string, text: string): Promise<readonly string[]> => {
    const answer = await send(url, { method: 'POST', body: text });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.text.split('\n').slice(0, -1);
  };
  const ask = async (server: Tidemark, text: string): Promise<string> => {
    const body = new URLSearchParams({ q: text, db: 'd' });
    return (await send(`${server.tsdb}/query`, { method: 'POST', body })).text;
  };
  const sees = (server: Tidemark, text: string, wanted: string): Promise<true> =>
    eventually(wanted, async () => ((await ask(server, text)).includes(wanted) ? true : undefined));

  beforeAll(async () => {
    directory = await makeDirectory();
    const up = await cluster('up', '--shards', '2', '--replicas', '1');
    urls = /clickhouse=(\S+)/.exec(up.stdout)?.[1] ?? '';
    [one, two] = await Promise.all([start(), start('--coordinator-partial-answers=true')]);
  });
  afterAll(async () => {
    for (const server of [one, two]) {
      await server.stop();
      await removeDirectory(server.directory);
    }
    await cluster('down');
    await removeDirectory(directory);
  });

  test('each sees databases, policies, users and rights that the other makes and drops', async () => {
    await ask(one, 'CREATE DATABASE d WITH NAME short');
    await sees(two, 'SHOW RETENTION POLICIES ON d', 'short');
    await ask(two, `CREATE USER eve WITH PASSWORD 'x'; GRANT READ ON d TO eve`);
    await sees(one, 'SHOW GRANTS FOR eve', 'READ');
    await ask(one, 'CREATE DATABASE e');
    await ask(two, 'DROP DATABASE e');
    await ask(two, 'REVOKE ALL ON d FROM eve; DROP USER eve');
    await eventually('the drops', async () => {
      const all = await ask(one, 'SHOW DATABASES; SHOW USERS');
      return all.includes('"e"') || all.includes('eve') ? undefined : true;
    });
  });

  test('each serves the documents that the other stores, and refuses to change what is older', async () => {
    const mine = new TsdbClient({ url: one.tsdb }).documents;
    const theirs = new TsdbClient({ url: two.tsdb }).documents;
    const name = ['dashboards', 'board'] as const;
    await mine.put(...name, { replaces: 0, title: 'First', content: { cells: [1] } });
    await eventually('the document', async () =>
      (await theirs.list('dashboards')).length === 1 ? true : undefined,
    );
    expect(await theirs.get(...name)).toMatchObject({ version: 1, content: { cells: [1] } });

    const both = await Promise.allSettled(
      [mine, theirs].map((each, i) =>
        each.put(...name, { replaces: 1, title: `Second of ${i}`, content: i }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const winner = both.findIndex(({ status }) => status === 'fulfilled');
    for (const each of [mine, theirs]) {
      expect(await each.get(...name)).toMatchObject({ version: 2, content: winner });
      expect(await each.get(...name, { version: 1 })).toMatchObject({ content: { cells: [1] } });
    }
    await expect(mine.put(...name, { replaces: 1, title: 'x', content: 0 })).rejects.toThrow(
      Conflict,
    );

    await theirs.remove(...name, 2);
    await expect(mine.get(...name)).rejects.toThrow(NotFound);
    await mine.put(...name, { replaces: 0, title: 'Kept', content: 'kept' });
  });

  test('each answers what was written to the other, and where it is kept', async () => {
    await write(
      one.tsdb,
      'd',
      Array.from({ length: 20 }, (_, i) => `m,h=${i} v=${i} ${i + 1}`).join('\n'),
    );
    await sees(two, 'SELECT count(v), sum(v), max(v) FROM m', '20,190,19]');

    const { status, text } = await send(`${two.tsdb}/health`);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      status: 'pass',
      checks: [{ name: expect.stringMatching(/^shard 1 http/) as string }, { status: 'pass' }],
    });
    const found = JSON.parse((await send(`${two.tsdb}/debug/replicas`)).text) as object;
    expect(found).toMatchObject({
      replicas: [1, 2].map((shard) => ({
        shard,
        isUp: true,
        load: { diskBytes: expect.toSatisfy((bytes) => bytes > 0) as number, delaySeconds: 0 },
      })),
    });
    expect((await send(`${two.tsdb}/metrics`)).text).toMatch(/replica_up\{.*shard="2".*\} 1/);
  });

  test(
    'databases move in from files and out again, while they are written to',
    async () => {
      const files = [];
      for (let i = 0; i < 2; i++)
        files.push(
          await startTidemark({ command: 'tsdb', args: ['--monitor-store-enabled=false'] }),
        );
      const [old, back] = files as [Tidemark, Tidemark];
      const stateOf = (from: Tidemark) => `${directory}/${new URL(from.tsdb).port}.json`;
      const lineOf = (from: Tidemark, to: Tidemark): readonly string[] =>
        ['tsdb', 'migrate', '--from', from.tsdb, '--to', to.tsdb, '--database', 'moved'].concat([
          '--state',
          stateOf(from),
          '--no-users',
        ]);
      const migrate = (from: Tidemark, to: Tidemark, ...more: readonly string[]) =>
        runTidemark([...lineOf(from, to), ...more]);
      const all = async (server: Tidemark) => [
        ...(await query(server.tsdb, 'SELECT * FROM long.m GROUP BY *', 'moved', { epoch: 'ns' })),
        ...(await query(server.tsdb, 'SHOW RETENTION POLICIES', 'moved')),
      ];
      await query(
        old.tsdb,
        'CREATE DATABASE moved; CREATE RETENTION POLICY long ON moved DURATION 0s REPLICATION 1 SHARD DURATION 1d DEFAULT',
      );
      const day = 86_400_000_000_000n;
      const lines = Array.from(
        { length: 300 },
        (_, i) =>
          `m,h=h${i % 7} f=${i / 4},i=${i}i,s="t ${i}",b=${i % 2 === 0} ${BigInt(i) * (day / 90n)}`,
      );
      await write(old.tsdb, 'moved', lines.join('\n'));

      // Killed when a part of it is done; what is written meanwhile is passed on all the same.
      const killed = spawn(EXECUTABLE, lineOf(old, one));
      const ended = once(killed, 'exit');
      while (!existsSync(stateOf(old)) && killed.exitCode === null) await sleep(2);
      killed.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);
      const { done } = JSON.parse(readFileSync(stateOf(old), 'utf8')) as {
        readonly done: Readonly<Record<string, number>>;
      };
      const before = Object.values(done).reduce((sum, count) => sum + count, 0);
      expect(before).toBeLessThan(300);
      await write(old.tsdb, 'moved', `m,h=h1 f=-1 ${day * 8n}`);

      const first = await migrate(old, one);
      expect(first).toMatchObject({ status: 0, stderr: '' });
      const [, copied] = /(\d+) points copied/.exec(first.stdout) ?? [];
      expect(Number(copied)).toBeGreaterThanOrEqual(300 - before);
      expect(Number(copied)).toBeLessThan(300);
      expect(first.stdout).toContain('are the same on both, and new writes go to both');
      await write(old.tsdb, 'moved', `m,h=h1 f=7 ${day * 9n}\nm,h=h2 f=8,s="new" 1`);
      await eventually('a new write', async () => {
        const found = await query(one.tsdb, 'SELECT f FROM long.m WHERE f = 8', 'moved');
        return found.length === 1 ? true : undefined;
      });
      // Differing series are copied again: this write was not forwarded.
      await write(one.tsdb, 'moved', `m,h=h3 f=1000 ${3n * (day / 90n)}`);
      const last = await migrate(old, one, '--last');
      expect(last).toMatchObject({ status: 0, stderr: '' });
      expect(last.stdout).toContain('new writes are not passed on any more');
      expect(await all(one)).toEqual(await all(old));
      expect(await query(old.tsdb, 'SHOW SUBSCRIPTIONS')).toEqual([]);

      expect(await migrate(one, back, '--last')).toMatchObject({ status: 0, stderr: '' });
      expect(await all(back)).toEqual(await all(old));
      await query(one.tsdb, 'DROP DATABASE moved');
      for (const server of files) {
        await server.stop();
        await removeDirectory(server.directory);
      }
    },
    SLOW_MS,
  );

  test('a subscription is sent what either takes, once', async () => {
    const receiver = new TestServer(() => ({ status: 204 }));
    await receiver.open();
    const received = (): readonly string[] =>
      receiver.requests.flatMap(({ body }) => body.split('\n').filter((line) => line !== ''));
    await ask(one, `CREATE SUBSCRIPTION s ON d.short DESTINATIONS ALL '${receiver.url}'`);
    await sees(two, 'SHOW SUBSCRIPTIONS', receiver.url);

    const lines = Array.from({ length: 20 }, (_, i) => `sub,h=h${i % 4} v=${i} ${i + 1}`);
    for (const [i, line] of lines.entries()) await write((i % 2 === 0 ? one : two).tsdb, 'd', line);
    // Each service sends in the order in which it took points: these are the last ones.
    for (const server of [one, two]) await write(server.tsdb, 'd', 'sub,h=last v=0 1');
    await receiver.until(() => received().filter((line) => line.includes('last')).length === 2);

    const sent = received().filter((line) => !line.includes('last'));
    expect([...sent].sort()).toEqual([...lines].sort());
    await ask(two, 'DROP SUBSCRIPTION s ON d.short');
    await receiver.close();
  });

  test('retention drops partitions on its schedule', async () => {
    await ask(one, 'CREATE DATABASE r WITH DURATION INF SHARD DURATION 1h NAME p');
    await sees(two, 'SHOW RETENTION POLICIES ON r', 'p');
    const now = BigInt(Date.now()) * 1_000_000n;
    const hosts = Array.from({ length: 8 }, (_, i) => i);
    await write(
      two.tsdb,
      'r',
      hosts.flatMap((i) => [`m,h=${i} v=1 1`, `m,h=${i} v=2 ${now}`]).join('\n'),
    );
    const groups = async (): Promise<readonly string[]> => {
      const answer = await query(two.tsdb, 'SHOW SHARDS');
      const own = answer.find(({ name }) => name === 'r');
      return (own?.values ?? []).map(([id]) => String(id));
    };
    const partitions = async (): Promise<readonly (readonly string[])[]> => {
      const text = `SELECT DISTINCT partition FROM system.parts WHERE active
        AND match(table, '^(points|series)_') ORDER BY partition`;
      return Promise.all(urls.split(',').map((url) => sql(url, text)));
    };
    const [old = '', recent = ''] = await groups();
    for (const own of await partitions())
      expect(own).toEqual(expect.arrayContaining([old, recent]));

    await ask(two, 'ALTER RETENTION POLICY p ON r DURATION 1d');

    await eventually('the drop', async () =>
      (await partitions()).every((own) => !own.includes(old)) ? true : undefined,
    );
    for (const own of await partitions()) expect(own).toContain(recent);
    await eventually('the groups', async () =>
      (await groups()).join() === recent ? true : undefined,
    );
    expect(await query(one.tsdb, 'SELECT count(v) FROM m', 'r')).toMatchObject([
      { values: [['1970-01-01T00:00:00Z', 8]] },
    ]);
    await ask(one, 'DROP DATABASE r');
  });

  test(
    'KILL QUERY, the time and the memory of a query end it on every shard',
    async () => {
      await ask(one, 'CREATE DATABASE k');
      await sees(two, 'SHOW DATABASES', '"k"');
      await write(
        one.tsdb,
        'k',
        Array.from({ length: 8 }, (_, i) => `big,h=${i} v=1 0`).join('\n'),
      );
      const nodes = urls.split(',');
      const [table = ''] = await sql(
        nodes[0] ?? '',
        `SELECT name FROM system.tables WHERE match(name, '^points_')
           ORDER BY toUInt32(substring(name, 8)) DESC LIMIT 1`,
      );
      // More rows than the service would write in a minute: reading them takes seconds.
      await Promise.all(
        nodes.map(async (url) => {
          const [row = ''] = await sql(
            url,
            `SELECT column, series, grp FROM tidemark.${table} LIMIT 1`,
          );
          const [column, series, group] = row.split('\t');
          await sql(
            url,
            `INSERT INTO tidemark.${table} (column, series, time, f, version, grp)
             SELECT toUInt64('${column}'), toUInt64('${series}'), toInt64(number), 1.0, toUInt64(0),
               toUInt32(${group}) FROM system.numbers LIMIT ${MANY}`,
          );
        }),
      );
      const running = async (): Promise<readonly string[]> => {
        const text = `SELECT query FROM system.processes
          WHERE position(query, '${table}') > 0 AND position(query, 'system.processes') = 0`;
        return (await Promise.all(nodes.map((url) => sql(url, text)))).flat();
      };
      const has = (isRunning: boolean) =>
        eventually(`a statement to be ${isRunning ? 'there' : 'gone'}`, async () =>
          (await running()).length > 0 === isRunning ? true : undefined,
        );
      const cancelled = (): number =>
        nodes
          .map((_, i) => readFileSync(join(directory, `shard${i + 1}-replica1/server.log`), 'utf8'))
          .join('')
          .split('Query was cancelled').length - 1;
      const long = 'SELECT mean(v), max(v), first(v) FROM big GROUP BY time(10u)';

      const answer = send(
        `${one.tsdb}/query?${new URLSearchParams({ q: long, db: 'k' }).toString()}`,
      );
      await has(true);
      const queries = await query(one.tsdb, 'SHOW QUERIES');
      const [id] = queries[0]?.values?.find(([, text]) => String(text).includes('mean')) ?? [];
      await ask(one, `KILL QUERY ${String(id)}`);
      expect((await answer).text).toContain('query interrupted');
      await has(false);
      await eventually('an end that was asked for', () =>
        Promise.resolve(cancelled() > 0 ? true : undefined),
      );

      // Each limit on a service of its own: a slow machine may reach the time before the memory.
      for (const [option, text, error] of [
        ['--coordinator-query-timeout=1s', long, 'query-timeout limit exceeded'],
        [
          '--coordinator-query-memory-limit=100m',
          'SELECT mean(v) FROM big GROUP BY time(1ns)',
          'query-memory-limit exceeded',
        ],
      ] as const) {
        const bounded = await start(option);
        const { tsdb } = bounded;
        const ended = await send(
          `${tsdb}/query?${new URLSearchParams({ q: text, db: 'k' }).toString()}`,
        );
        await bounded.stop();
        await removeDirectory(bounded.directory);
        expect(ended.text).toContain(error);
        await has(false);
      }
      await ask(one, 'DROP DATABASE k');
    },
    SLOW_MS,
  );

  test('`tidemark up` serves it, too, with the options of `tidemark tsdb`', async () => {
    const all = await startTidemark({
      command: 'up',
      args: ['--storage-engine', 'clickhouse', '--clickhouse-urls', urls, '--bind', '127.0.0.2:0'],
    });
    expect(all.tsdb).toMatch(/^http:\/\/127\.0\.0\.2:/);
    expect(await ask(all, 'SELECT count(v) FROM m')).toContain('20]');
    await write(all.tsdb, 'd', 'up v=1 1');
    await sees(one, 'SELECT count(v) FROM up', '1]');
    await all.stop();
    await removeDirectory(all.directory);
  });

  test('continuous queries run on one; when it dies on the other, and writes go on', async () => {
    const runs = async (server: Tidemark): Promise<number> => {
      const vars = JSON.parse((await send(`${server.tsdb}/debug/vars`)).text) as {
        readonly cq: { readonly values: { readonly queryOk: number } };
      };
      return vars.cq.values.queryOk;
    };
    await ask(
      one,
      'CREATE CONTINUOUS QUERY q ON d BEGIN SELECT count(v) INTO counts FROM m GROUP BY time(1s) END',
    );
    await eventually('runs', async () =>
      (await runs(one)) + (await runs(two)) > 2 ? true : undefined,
    );
    const counts = [await runs(one), await runs(two)];
    expect(counts.filter((count) => count > 0)).toHaveLength(1);

    const isFirst = counts[0]! > 0;
    const [leader, other] = isFirst ? [one, two] : [two, one];
    const balancer = await TcpBalancer.open(() => [leader.tsdb, other.tsdb]);
    const acknowledged: number[] = [];
    let isOver = false;
    const writer = (async () => {
      for (let i = 1; !isOver; i++) {
        // A connection that breaks says nothing: the same point is sent again.
        const isTaken = await write(balancer.url, 'd', `k v=${i} ${i}`).then(
          () => true,
          () => false,
        );
        if (isTaken) acknowledged.push(i);
      }
    })();
    await eventually('writes', async () => (acknowledged.length > 5 ? true : undefined));
    await leader.kill();
    const before = acknowledged.length;
    await eventually('more writes', async () =>
      acknowledged.length > before + 20 ? true : undefined,
    );
    await eventually('runs', async () => ((await runs(other)) > 0 ? true : undefined), 40_000);
    isOver = true;
    await writer;
    await balancer.close();
    const [series] = await query(other.tsdb, 'SELECT v FROM k', 'd');
    const times = new Set(series?.values?.map(([, value]) => value));
    expect(acknowledged.filter((i) => !times.has(i))).toEqual([]);

    const again = await start(...(isFirst ? [] : ['--coordinator-partial-answers=true']));
    await removeDirectory(leader.directory);
    if (isFirst) one = again;
    else two = again;
  });

  test(
    'without ZooKeeper reads go on; without a shard a service starts and answers the rest',
    async () => {
      const { nodes, zookeeper } = JSON.parse((await cluster('status', '--json')).stdout) as Status;
      const text = 'SELECT count(v) FROM m';
      const tryWrite = (server: Tidemark, body: string) =>
        send(`${server.tsdb}/write?db=d`, { method: 'POST', body });
      const taken = (server: Tidemark, body: string) =>
        eventually('a write', async () =>
          (await tryWrite(server, body)).status === 204 ? true : undefined,
        );
      process.kill(zookeeper.pid, 'SIGKILL');
      const refused = await tryWrite(one, 'm,h=0 v=1 100');
      expect(refused.status).toBe(503);
      expect(refused.text).toContain('does not take writes');
      expect(await ask(one, text)).toContain('20');
      const impaired = await send(`${one.tsdb}/health`);
      expect([impaired.status, JSON.parse(impaired.text)]).toMatchObject([
        200,
        {
          status: 'warn',
          message: `ready for queries, but ${nodes.length} of ${nodes.length} replicas take no writes`,
        },
      ]);
      await cluster('up');
      await taken(one, 'm,h=0 v=1 100');

      // The first one, in case that something is asked there only.
      process.kill(nodes[0]?.pid ?? 0, 'SIGKILL');
      const late = await start('--coordinator-partial-answers=true');
      await expect(query(one.tsdb, text, 'd')).rejects.toThrow(
        'shard 1 of the cluster does not answer',
      );
      for (const server of [two, late]) {
        const part = await send(
          `${server.tsdb}/query?${new URLSearchParams({ q: text, db: 'd' }).toString()}`,
        );
        expect(part.status).toBe(200);
        expect(part.text).toContain('shard 1 of the cluster does not answer');
        expect(part.text).toContain('"partial":true');
      }
      for (const server of [one, late]) {
        const health = JSON.parse((await send(`${server.tsdb}/health`)).text) as object;
        expect(health).toMatchObject({
          status: 'warn',
          message: 'no replica of shard 1 of the cluster answers',
        });
      }
      // New documents are agreed on by the remaining nodes.
      const { documents } = new TsdbClient({ url: late.tsdb });
      expect(await documents.get('dashboards', 'board')).toMatchObject({ content: 'kept' });
      expect(await ask(late, 'CREATE DATABASE meanwhile')).not.toContain('error');
      await sees(one, 'SHOW DATABASES', 'meanwhile');
      // The other shard may refuse writes for a moment, too: clients send them again.
      const refusal = await eventually('writes to the shard that is left', async () => {
        const answers = await Promise.all(
          Array.from({ length: 8 }, (_, i) => tryWrite(late, `n,h=${i} w=1i 1`)),
        );
        const statuses = new Set(answers.map(({ status }) => status));
        expect([...statuses].filter((status) => status !== 204 && status !== 503)).toEqual([]);
        return statuses.has(204) ? answers.find(({ status }) => status === 503) : undefined;
      });
      expect(refusal.text).toContain('shard 1 of the cluster');

      await cluster('up');
      for (const server of [one, late]) await sees(server, text, '[["1970-01-01T00:00:00Z",21]]');
      await taken(late, Array.from({ length: 8 }, (_, i) => `n,h=${i} w=1i 1`).join('\n'));
      await sees(one, 'SELECT count(w) FROM n', '8');
      expect(JSON.parse((await send(`${late.tsdb}/health`)).text)).toMatchObject({
        status: 'pass',
      });
      await late.stop();
      await removeDirectory(late.directory);
    },
    SLOW_MS,
  );
});
