// Existing clients, unchanged, against the real executable: each creates a database, writes and
// reads back.
import { InfluxDB as ModernClient, Point } from '@influxdata/influxdb-client';
import { InfluxDB } from 'influx';
import { hasPrograms, query, removeDirectory, run, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// The distribution's own interpreter: another one in the path does not see the distribution's
// packages.

let server: Tidemark;

beforeAll(async () => {
  server = await startTidemark();
});

afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

describe('the npm package influx', () => {
  test('creates a database, writes points of every type and reads them back', async () => {
    const { hostname, port } = new URL(server.tsdb);
    const client = new InfluxDB({ host: hostname, port: Number(port), database: 'npm_influx' });

    await client.createDatabase('npm_influx');
    await client.writePoints([
      {
        measurement: 'room',
        tags: { name: 'kitchen, ground floor' },
        fields: { celsius: 21.5, open: true, note: 'a "b"' },
        timestamp: new Date(1_700_000_000_000),
      },
      {
        measurement: 'room',
        tags: { name: 'cellar' },
        fields: { celsius: 12 },
        timestamp: new Date(1_700_000_010_000),
      },
    ]);

    expect(await client.getDatabaseNames()).toContain('npm_influx');
    expect(await client.getMeasurements()).toEqual(['room']);
    const rows = await client.query<{
      celsius: number;
      name: string;
      open: boolean | null;
      note: string | null;
    }>('SELECT * FROM room');
    expect(rows.map((row) => [row.name, row.celsius, row.open, row.note])).toEqual([
      ['kitchen, ground floor', 21.5, true, 'a "b"'],
      ['cellar', 12, null, null],
    ]);
    const means = await client.query<{ mean: number }>('SELECT mean(celsius) FROM room');
    expect(means[0]?.mean).toBe(16.75);
    await client.dropDatabase('npm_influx');
    expect(await client.getDatabaseNames()).not.toContain('npm_influx');
  });
});

describe('the npm package @influxdata/influxdb-client', () => {
  test('writes points of every type with user and password; they are read back by a query', async () => {
    await query(server.tsdb, 'CREATE DATABASE modern');
    const client = new ModernClient({ url: server.tsdb, token: 'user:password' });
    const writer = client.getWriteApi('', 'modern/autogen', 'ms', { defaultTags: { site: 'a b' } });

    writer.writePoint(
      new Point('room')
        .tag('name', 'kitchen, ground floor')
        .floatField('celsius', 21.5)
        .intField('visitors', 3)
        .booleanField('open', true)
        .stringField('note', 'a "b"')
        .timestamp(1_700_000_000_000),
    );
    await writer.close();

    expect(await query(server.tsdb, 'SELECT * FROM room', 'modern')).toMatchObject([
      {
        columns: ['time', 'celsius', 'name', 'note', 'open', 'site', 'visitors'],
        values: [['2023-11-14T22:13:20Z', 21.5, 'kitchen, ground floor', 'a "b"', true, 'a b', 3]],
      },
    ]);
  });

  test('a refused write reaches the caller with status and reason', async () => {
    const client = new ModernClient({ url: server.tsdb, token: 'user:password' });
    const writer = client.getWriteApi('', 'absent', 'ns', { maxRetries: 0 });
    writer.writeRecord('m f=1');

    await expect(writer.close()).rejects.toMatchObject({ statusCode: 404 });
  });
});

describe.skipIf(!hasPrograms('influx'))('the influx shell', () => {
  const shell = (statement: string, ...args: string[]) => {
    const { hostname, port } = new URL(server.tsdb);
    return run('influx', ['-host', hostname, '-port', port, ...args, '-execute', statement]);
  };

  test('creates a database, inserts and selects', async () => {
    expect(await shell('CREATE DATABASE shell')).toMatchObject({ status: 0, stderr: '' });
    expect(
      await shell('INSERT cpu,host=a usage=1.5,n=3i 1700000000000000000', '-database', 'shell'),
    ).toMatchObject({ status: 0 });

    const selected = await shell('SELECT * FROM cpu', '-database', 'shell', '-format', 'csv');
    expect(selected.stdout.trim().split('\n')).toEqual([
      'name,time,host,n,usage',
      'cpu,1700000000000000000,a,3,1.5',
    ]);
    const shown = await shell('SHOW TAG VALUES WITH KEY = host', '-database', 'shell');
    expect(shown.stdout).toContain('host a');
  });

  test("prints the server's error and fails", async () => {
    const failed = await shell('SELECT FROM cpu', '-database', 'shell');
    expect(failed.status).toBe(1);
    expect(failed.stdout + failed.stderr).toContain(
      'ERR: error parsing query: found FROM, expected identifier, string, number, bool at line 1, char 8',
    );
  });
});

describe.skipIf(!hasPrograms('python3', '/usr/lib/python3/dist-packages/influxdb/__init__.py'))(
  'python3-influxdb',
  () => {
    test('creates a database, writes and reads back', async () => {
      const { hostname, port } = new URL(server.tsdb);
      const program = [
        'import json',
        'from influxdb import InfluxDBClient',
        `c = InfluxDBClient("${hostname}", ${port}, database="py")`,
        'c.create_database("py")',
        'c.write_points([{"measurement": "m", "tags": {"t": "ü v"}, "fields": {"f": 1.25, "i": 7, "s": "x", "b": True}, "time": "2023-11-14T22:13:20Z"}])',
        'print(json.dumps({"ping": c.ping() != "", "dbs": [d["name"] for d in c.get_list_database()], "rows": list(c.query("SELECT * FROM m").get_points())}))',
      ].join('\n');

      const result = await run('python3', ['-c', program]);

      expect(result.stderr).toBe('');
      expect(JSON.parse(result.stdout)).toMatchObject({
        ping: true,
        dbs: expect.arrayContaining(['py']) as unknown,
        rows: [{ time: '2023-11-14T22:13:20Z', t: 'ü v', f: 1.25, i: 7, s: 'x', b: true }],
      });
    });
  },
);

test('one client sees the points that another wrote', async () => {
  const client = new InfluxDB({
    host: new URL(server.tsdb).hostname,
    port: Number(new URL(server.tsdb).port),
    database: 'shared',
  });
  await client.createDatabase('shared');
  await client.writeMeasurement('m', [{ fields: { f: 1 }, timestamp: new Date(0) }]);

  expect(await query(server.tsdb, 'SELECT f FROM m', 'shared')).toEqual([
    { name: 'm', columns: ['time', 'f'], values: [['1970-01-01T00:00:00Z', 1]] },
  ]);
});
