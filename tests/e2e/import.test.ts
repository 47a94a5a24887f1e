// Import: a real InfluxDB 1.6 is copied into Tidemark, with the check of counts and sums.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

import {
  eventually,
  EXECUTABLE,
  hasPrograms,
  query,
  removeDirectory,
  startInfluxdb,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Influxdb, Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runInProcess } from './in-process.ts';

describe.skipIf(!hasPrograms('influxd'))('tidemark tsdb import', () => {
  let old: Influxdb;
  let server: Tidemark;

  beforeAll(async () => {
    old = await startInfluxdb();
    server = await startTidemark({ command: 'tsdb', args: ['--monitor-store-enabled', 'false'] });
    await query(
      old.url,
      'CREATE DATABASE plant; CREATE RETENTION POLICY "raw data" ON plant DURATION 30d REPLICATION 1 SHARD DURATION 1d',
    );
    await query(
      old.url,
      'CREATE CONTINUOUS QUERY hourly ON plant BEGIN SELECT mean(f) INTO plant.autogen.hourly FROM plant.autogen.m GROUP BY time(1h) END',
    );
    await query(old.url, "CREATE USER ana WITH PASSWORD 'secret'; GRANT READ ON plant TO ana");
    const lines = Array.from(
      { length: 500 },
      (_, i) =>
        `m,host=h${i % 5},unit=a\\ b f=${i / 3},n=${i}i,s="line \\"${i}\\"",b=${i % 2 === 0} ${1_700_000_000 + i * 3600}`,
    );
    await write(old.url, 'plant', lines.join('\n'), { precision: 's' });
    // Other shards hold the same field in another type, and integers that no double can hold.
    await write(old.url, 'plant', 'm,host=h0 f=7i,n=9223372036854775807i 1500000000', {
      precision: 's',
    });
    await write(old.url, 'plant', 'weird\\ name,t\\,k=v\\=1 "q"=1 -1000000000');
    const now = Math.floor(Date.now() / 1000);
    await write(old.url, 'plant', `recent f=1 ${now}`, { rp: 'raw data', precision: 's' });
  }, 60_000);

  afterAll(async () => {
    await old.stop();
    await server.stop();
    await removeDirectory(server.directory);
  });

  /** Statements whose answers a copy of the old server's database has, too. */
  const COPIED = [
    'SELECT * FROM m',
    'SELECT * FROM "weird name"',
    'SELECT * FROM "raw data".recent',
    'SHOW RETENTION POLICIES',
  ];

  async function expectCopied(database: string, statements: readonly string[]): Promise<void> {
    for (const statement of statements) {
      expect(await query(server.tsdb, statement, database, { epoch: 'ns' }), statement).toEqual(
        await query(old.url, statement, 'plant', { epoch: 'ns' }),
      );
    }
  }

  test('copies policies, points, continuous queries and grants, and finds counts and sums equal', async () => {
    const state = join(server.directory, 'import.json');
    const result = await runInProcess([
      'tsdb',
      'import',
      '--from',
      old.url,
      '--url',
      server.tsdb,
      '--state',
      state,
      '--json',
    ]);

    expect(result.stderr).toBe('');
    expect(JSON.parse(result.stdout)).toMatchObject({
      databases: 1,
      points: 503,
      continuousQueries: 1,
      mismatches: [],
      users: [{ name: 'ana' }],
    });
    expect(result.status).toBe(0);
    await expectCopied('plant', [
      ...COPIED,
      'SHOW CONTINUOUS QUERIES',
      'SHOW GRANTS FOR ana',
      'SHOW FIELD KEYS',
      'SHOW SERIES',
    ]);
  }, 60_000);

  test('does nothing a second time, because the state says what is done', async () => {
    const state = join(server.directory, 'import.json');
    const again = await runInProcess([
      'tsdb',
      'import',
      '--from',
      old.url,
      '--url',
      server.tsdb,
      '--state',
      state,
      '--json',
    ]);

    expect(JSON.parse(again.stdout)).toMatchObject({ points: 0, mismatches: [] });
  }, 60_000);

  test('goes on after a kill where it was, and still finds counts and sums equal', async () => {
    // Twenty shards of ten measurements are pieces enough to be killed among.
    await query(old.url, 'CREATE DATABASE long WITH DURATION INF SHARD DURATION 1d');
    const lines = Array.from(
      { length: 20 * 10 },
      (_, i) => `m${i % 10} f=${i / 7},n=${i}i ${1_700_000_000 + Math.floor(i / 10) * 86_400}`,
    );
    await write(old.url, 'long', lines.join('\n'), { precision: 's' });
    const state = join(server.directory, 'killed.json');
    const args = ['tsdb', 'import', '--from', old.url, '--url', server.tsdb, '--state', state];
    const only = ['--database', 'long', '--no-users', '--json'];
    const first = spawn(EXECUTABLE, [...args, ...only], { stdio: 'ignore' });
    const ended = once(first, 'exit');
    const done = async (): Promise<number> => {
      const text = await readFile(state, 'utf8').catch(() => '{"done":{}}');
      return Object.keys((JSON.parse(text) as { done: object }).done).length;
    };
    await eventually(
      'the first pieces',
      async () => ((await done()) >= 3 ? true : undefined),
      60_000,
    );
    first.kill('SIGKILL');
    await ended;
    const before = await done();
    expect(before).toBeLessThan(200);

    const second = await runInProcess([...args, ...only]);
    expect(second.status, second.stderr).toBe(0);
    const report = JSON.parse(second.stdout);
    expect(report).toMatchObject({ databases: 1, measurements: 10, mismatches: [] });
    // Each piece has one point, and what was done before was not copied again.
    expect(report.points).toBe(200 - before);
    const counts = 'SELECT count(n), sum(n) FROM /.*/';
    expect(await query(server.tsdb, counts, 'long')).toEqual(await query(old.url, counts, 'long'));
  }, 180_000);

  test('says which measurement differs, and fails', async () => {
    await query(server.tsdb, 'DELETE FROM m1 WHERE time < 1700000001s', 'long');
    const state = join(server.directory, 'killed.json');
    const again = await runInProcess([
      'tsdb',
      'import',
      '--from',
      old.url,
      '--url',
      server.tsdb,
      '--state',
      state,
      '--database',
      'long',
      '--no-users',
      '--json',
    ]);
    expect(again.status).toBe(1);
    expect(JSON.parse(again.stdout).mismatches).toEqual([
      { measurement: 'm1', text: 'count of f: 1 there, null here' },
      { measurement: 'm1', text: expect.stringMatching(/^sum of f: /) },
      { measurement: 'm1', text: 'count of n: 1 there, null here' },
      { measurement: 'm1', text: 'sum of n: 1 there, null here' },
    ]);
  }, 120_000);

  test('an export of the old server is read into a new database', async () => {
    const path = join(server.directory, 'plant.gz');
    const exported = await runInProcess([
      'tsdb',
      'export',
      '--url',
      old.url,
      '--database',
      'plant',
      '--out',
      path,
      '--compress',
      '--json',
    ]);
    expect(JSON.parse(exported.stdout)).toEqual({ databases: 1, measurements: 3, points: 503 });
    const text = gunzipSync(await readFile(path)).toString();
    await writeFile(path, gzipSync(text.replaceAll('plant', 'copied')));

    const imported = await runInProcess([
      'tsdb',
      'import',
      '--file',
      path,
      '--compressed',
      '--url',
      server.tsdb,
      '--json',
    ]);
    expect(JSON.parse(imported.stdout)).toMatchObject({
      inserts: 503,
      failedInserts: 0,
      errors: [],
    });
    await expectCopied('copied', COPIED);
  }, 60_000);
});

test('an export of ours keeps strings of several lines, a range and the choice of a policy', async () => {
  const server = await startTidemark({ command: 'tsdb' });
  try {
    await query(
      server.tsdb,
      'CREATE DATABASE d; CREATE RETENTION POLICY other ON d DURATION INF REPLICATION 1',
    );
    await write(
      server.tsdb,
      'd',
      'm,t=a\\ "b s="one\n# two\\"\n\nthree",f=1 1000000000\nm f=2 2000000000\nm f=3 3000000000',
    );
    await write(server.tsdb, 'd', 'elsewhere f=1 1', { rp: 'other' });
    const exported = await runInProcess([
      'tsdb',
      'export',
      '--url',
      server.tsdb,
      '--database',
      'd',
      '--retention',
      'autogen',
      '--end',
      '1970-01-01T00:00:03Z',
      '--lines-only',
    ]);
    expect([exported.status, exported.stderr]).toEqual([
      0,
      '1 databases, 1 measurements, 2 points exported\n',
    ]);
    expect(exported.stdout).not.toContain('CREATE');
    expect(exported.stdout).not.toContain('elsewhere');

    const path = join(server.directory, 'lines.txt');
    await writeFile(
      path,
      `# DDL\nCREATE DATABASE copy\n${exported.stdout.replace('DATABASE:d', 'DATABASE:copy')}`,
    );
    const imported = await runInProcess([
      'tsdb',
      'import',
      '--file',
      path,
      '--url',
      server.tsdb,
      '--json',
    ]);
    expect(JSON.parse(imported.stdout)).toMatchObject({
      commands: 1,
      failedInserts: 0,
      errors: [],
    });
    const statement = 'SELECT * FROM m';
    const all = await query(server.tsdb, statement, 'd');
    expect(await query(server.tsdb, statement, 'copy')).toEqual([
      { ...all[0], values: all[0]?.values?.slice(0, 2) },
    ]);
  } finally {
    await server.stop();
    await removeDirectory(server.directory);
  }
});

test('a file as influx_inspect writes it is read, and a bad line fails alone', async () => {
  const server = await startTidemark({ command: 'tsdb' });
  try {
    const path = join(server.directory, 'inspect.txt');
    await writeFile(
      path,
      `# INFLUXDB EXPORT: 1677-09-21T00:12:43Z - 2262-04-11T23:47:16Z
# DDL
CREATE DATABASE plant WITH NAME autogen
CREATE DATABASE plant WITH NAME raw
# DML
# CONTEXT-DATABASE:plant
# CONTEXT-RETENTION-POLICY:autogen
# writing tsm data
m,host=a f=1.5 1700000000000000000
m,host=a f=2.5 1700000010000000000
m,host=a n=9007199254740991i 1700000000000000000
m,host=a s="two
lines" 1700000000000000000
m,host=a f=broken
# writing wal data
m,host=b b=true 1700000020000000000
# CONTEXT-RETENTION-POLICY:raw
recent f=1 1700000000000000000
`,
    );
    const imported = await runInProcess([
      'tsdb',
      'import',
      '--file',
      path,
      '--url',
      server.tsdb,
      '--json',
    ]);

    const report = JSON.parse(imported.stdout);
    expect([imported.status, report.failedInserts, report.errors.length]).toEqual([1, 1, 1]);
    expect(report.errors[0]).toBe(`${path}:14: invalid boolean: m,host=a f=broken`);
    expect(await query(server.tsdb, 'SELECT * FROM m', 'plant', { epoch: 's' })).toEqual([
      {
        name: 'm',
        columns: ['time', 'b', 'f', 'host', 'n', 's'],
        values: [
          [1_700_000_000, null, 1.5, 'a', 9_007_199_254_740_991, 'two\nlines'],
          [1_700_000_010, null, 2.5, 'a', null, null],
          [1_700_000_020, true, null, 'b', null, null],
        ],
      },
    ]);
    expect(await query(server.tsdb, 'SELECT * FROM raw.recent', 'plant')).toHaveLength(1);
  } finally {
    await server.stop();
    await removeDirectory(server.directory);
  }
});
