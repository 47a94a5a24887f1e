// Moving in: a real InfluxDB 1.6 is copied into Tidemark, with the check of counts and sums.
import { join } from 'node:path';

import {
  hasPeer,
  query,
  removeDirectory,
  runTidemark,
  startInfluxdb,
  startTidemark,
  write,
} from '@tidemark/testkit';
import type { Influxdb, Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

describe.skipIf(!hasPeer('influxdb', 'influxd', ['version']))('tidemark tsdb import', () => {
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

  test('copies policies, points, continuous queries and grants, and finds counts and sums equal', async () => {
    const state = join(server.directory, 'import.json');
    const result = await runTidemark([
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
    for (const statement of [
      'SELECT * FROM m',
      'SELECT * FROM "weird name"',
      'SELECT * FROM "raw data".recent',
      'SHOW RETENTION POLICIES',
      'SHOW CONTINUOUS QUERIES',
      'SHOW GRANTS FOR ana',
      'SHOW FIELD KEYS',
      'SHOW SERIES',
    ]) {
      expect(await query(server.tsdb, statement, 'plant', { epoch: 'ns' }), statement).toEqual(
        await query(old.url, statement, 'plant', { epoch: 'ns' }),
      );
    }
  }, 60_000);

  test('does nothing a second time, because the state says what is done', async () => {
    const state = join(server.directory, 'import.json');
    const again = await runTidemark([
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
});
