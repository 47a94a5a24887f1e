// Requests as sent by monitoring tools that are not in the distribution: dashboards, load
// generators, hypervisors.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';

import {
  eventually,
  freePort,
  hasPrograms,
  query,
  removeDirectory,
  run,
  send,
  startTidemark,
} from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// The distribution's own interpreter: another one in the path does not see the distribution's
// packages.

let server: Tidemark;
let udpPort: number;

beforeAll(async () => {
  udpPort = await freePort('udp');
  server = await startTidemark({
    command: 'tsdb',
    environment: {
      TIDEMARK_UDP_0_ENABLED: 'true',
      TIDEMARK_UDP_0_BIND_ADDRESS: `127.0.0.1:${udpPort}`,
      TIDEMARK_UDP_0_DATABASE: 'proxmox_udp',
      TIDEMARK_UDP_0_BATCH_TIMEOUT: '50ms',
    },
  });
});

afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString();
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('Chronograf', () => {
  // Everything is in the URL, whatever the method; the body is empty and said to be JSON.
  const ask = (fields: Record<string, string>) =>
    send(`${server.tsdb}/query?${form(fields)}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'User-Agent': 'Chronograf/1.10' },
    });

  test('looks at the version, reads what there is, and asks with an empty policy', async () => {
    const ping = await send(`${server.tsdb}/ping`);
    expect([
      ping.status,
      ping.headers.get('x-influxdb-build'),
      ping.headers.get('x-influxdb-version'),
    ]).toEqual([204, 'OSS', '1.8.10']);

    await query(server.tsdb, 'CREATE DATABASE chrono');
    const annotated = await send(`${server.tsdb}/write?${form({ db: 'chrono', rp: '' })}`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
      body: 'annotations,id=1 deleted=false,text="restart",start_time=1i 1700000000000000000\n',
    });
    expect(annotated.status).toBe(204);
    const answer = await ask({
      q: 'SELECT "text" FROM "chrono".."annotations" WHERE time > 0',
      db: 'chrono',
      rp: '',
      epoch: 'ms',
    });
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(JSON.parse(answer.text)).toEqual({
      results: [
        {
          statement_id: 0,
          series: [
            {
              name: 'annotations',
              columns: ['time', 'text'],
              values: [[1_700_000_000_000, 'restart']],
            },
          ],
        },
      ],
    });
  });

  test('lists databases, policies, users and queries; creates the database that a write misses', async () => {
    for (const q of [
      'SHOW DATABASES',
      'SHOW RETENTION POLICIES ON "chrono"',
      'SHOW USERS',
      'SHOW QUERIES',
    ]) {
      const answer = await ask({ q });
      const [result] = JSON.parse(answer.text).results;
      expect([answer.status, result.error, result.series[0].columns.length > 0]).toEqual([
        200,
        undefined,
        true,
      ]);
    }
    const body = 'm f=1 1\n';
    const missing = await send(`${server.tsdb}/write?db=chronograf&rp=`, { method: 'POST', body });
    expect(missing.status).toBe(404);
    expect(JSON.parse(missing.text).error).toContain('database not found');
    expect((await ask({ q: 'CREATE DATABASE "chronograf"' })).status).toBe(200);
    const written = await send(`${server.tsdb}/write?db=chronograf&rp=`, { method: 'POST', body });
    expect(written.status).toBe(204);
  });
});

test('k6 asks for health, creates its database by an unquoted name, and writes to the bucket', async () => {
  const health = await send(`${server.tsdb}/health`, {
    headers: { Accept: 'application/json', 'User-Agent': 'influxdb-client-go/2.9' },
  });
  expect(health.headers.get('content-type')).toBe('application/json');
  expect(JSON.parse(health.text)).toMatchObject({
    name: 'influxdb',
    status: 'pass',
    checks: [],
    version: expect.stringMatching(/^1\./),
  });
  const created = await send(`${server.tsdb}/query`, {
    method: 'POST',
    headers: { ...FORM, Authorization: 'Token ' },
    body: form({ q: 'CREATE DATABASE k6' }),
  });
  expect(JSON.parse(created.text)).toEqual({ results: [{ statement_id: 0 }] });
  const written = await send(`${server.tsdb}/api/v2/write?bucket=k6&org=&precision=ns`, {
    method: 'POST',
    headers: {
      Authorization: 'Token ',
      'Content-Encoding': 'gzip',
      'User-Agent': 'influxdb-client-go/2.9',
    },
    body: gzipSync(
      'http_req_duration,method=GET,scenario=default,status=200,url=http://x/?a\\=b value=12.25 1700000000000000000\n' +
        'vus value=1 1700000000000000000\n',
    ),
  });
  expect([written.status, written.text]).toEqual([204, '']);
  const [series] = await query(
    server.tsdb,
    'SELECT value FROM http_req_duration GROUP BY url',
    'k6',
  );
  expect([series?.tags, series?.values]).toEqual([
    { url: 'http://x/?a=b' },
    [['2023-11-14T22:13:20Z', 12.25]],
  ]);
});

test('JMeter posts batches with a token to the address it was given', async () => {
  await query(server.tsdb, 'CREATE DATABASE jmeter');
  const body = [
    'jmeter,application=shop,transaction=all,statut=all count=3i,countError=0i,min=1.0,max=9.5,pct95.0=9.0 1700000000000000000',
    'jmeter,application=shop,transaction=internal minAT=1i,maxAT=2i,meanAT=1i,startedT=2i,endedT=1i 1700000000000000000',
    'events,application=shop,title=ApacheJMeter text="Test\\ Cycle1\\ started" 1700000000000000000',
  ].join('\n');
  for (const path of ['/write?db=jmeter', '/api/v2/write?org=o&bucket=jmeter']) {
    const written = await send(`${server.tsdb}${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'text/plain; charset=UTF-8',
        Authorization: 'Token secret',
        'User-Agent': 'ApacheJMeter 5.6',
      },
      body,
    });
    expect([path, written.status]).toEqual([path, 204]);
  }
  const [series] = await query(
    server.tsdb,
    'SELECT count, "pct95.0" FROM jmeter WHERE statut = \'all\'',
    'jmeter',
  );
  expect(series?.values).toEqual([['2023-11-14T22:13:20Z', 3, 9]]);
});

describe('Proxmox VE', () => {
  const LINES = [
    'system,object=nodes,host=pve uptime=12345,cpustat=0.25 1700000000000000000',
    'blockstat,object=nodes,host=pve avail=10,used=5 1700000000000000000',
    'system,object=qemu,vmid=100,nodename=pve,host=vm\\ one mem=2147483648,status="running" 1700000000000000000',
  ].join('\n');

  test('tests its connection with a token and writes over HTTP', async () => {
    await query(server.tsdb, 'CREATE DATABASE proxmox');
    const headers = { Authorization: 'Token abc', 'User-Agent': 'libwww-perl/6' };
    const health = await send(`${server.tsdb}/health`, { headers });
    expect([health.status, JSON.parse(health.text).status]).toEqual([200, 'pass']);
    const written = await send(`${server.tsdb}/api/v2/write?org=proxmox&bucket=proxmox`, {
      method: 'POST',
      headers,
      body: LINES,
    });
    expect(written.status).toBe(204);
    const [series] = await query(
      server.tsdb,
      "SELECT mem, status FROM system WHERE vmid = '100'",
      'proxmox',
    );
    expect(series?.values).toEqual([['2023-11-14T22:13:20Z', 2_147_483_648, 'running']]);
  });

  test('writes over UDP', async () => {
    const socket = createSocket('udp4');
    socket.send(LINES, udpPort, '127.0.0.1');
    const series = await eventually('the datagram', async () => {
      const found = await query(server.tsdb, 'SELECT used FROM blockstat', 'proxmox_udp');
      return found[0];
    });
    socket.close();
    await once(socket, 'close');
    expect(series.values).toEqual([['2023-11-14T22:13:20Z', 5]]);
  });
});

describe('Home Assistant', () => {
  test.skipIf(!hasPrograms('python3', '/usr/lib/python3/dist-packages/influxdb/__init__.py'))(
    'tests with an empty write, writes states by unit, and reads databases',
    async () => {
      const { hostname, port } = new URL(server.tsdb);
      const program = `
import json
from influxdb import InfluxDBClient
c = InfluxDBClient(host="${hostname}", port=${port}, database="home_assistant", username="u", password="p", ssl=False, verify_ssl=False)
c.create_database("home_assistant")
c.write_points([])
point = lambda m, d, e, f: {"measurement": m, "tags": {"domain": d, "entity_id": e, "source": "HA"}, "time": "2023-11-14T22:13:20.123456+00:00", "fields": f}
c.write_points([
  point("°C", "sensor", "hall", {"value": 21.5, "friendly_name_str": "Hall, \\"upper\\"", "battery_level": 97.0}),
  point("%", "sensor", "hall_hum", {"value": 40.0}),
  point("light.kitchen", "light", "kitchen", {"state": "on", "value": 1.0, "supported_color_modes_str": "['onoff']"}),
], time_precision="ms")
rows = list(c.query('SELECT * FROM "°C"').get_points())
dbs = [d["name"] for d in c.query("SHOW DATABASES").get_points()]
bad = None
try:
  c.write_points([point("°C", "sensor", "hall", {"value": "warm"})])
except Exception as e:
  bad = e.code
print(json.dumps({"rows": rows, "dbs": dbs, "bad": bad}))
`;
      const result = await run('python3', ['-c', program]);
      expect(result.stderr).toBe('');
      expect(JSON.parse(result.stdout)).toEqual({
        rows: [
          {
            time: '2023-11-14T22:13:20.123000Z',
            domain: 'sensor',
            entity_id: 'hall',
            source: 'HA',
            value: 21.5,
            friendly_name_str: 'Hall, "upper"',
            battery_level: 97,
          },
        ],
        dbs: expect.arrayContaining(['home_assistant']) as unknown,
        bad: 400,
      });
    },
  );

  test('tests the newer interface with an empty body', async () => {
    await query(server.tsdb, 'CREATE DATABASE ha2');
    const written = await send(`${server.tsdb}/api/v2/write?org=o&bucket=ha2&precision=ns`, {
      method: 'POST',
      headers: { Authorization: 'Token u:p', 'Content-Type': 'text/plain; charset=utf-8' },
      body: '',
    });
    expect([written.status, written.text]).toEqual([204, '']);
  });
});
