// Inputs of tasks besides HTTP: the listeners that the database also has, and scrapers.
import { createSocket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually, metricValue, TestServer } from '@tidemark/testkit';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterEach, beforeEach, expect, test } from 'vitest';

const LISTEN = { enabled: true, 'bind-address': '127.0.0.1:0', 'batch-timeout': '10ms' };

let engine: TestEngine;

beforeEach(async () => {
  engine = new TestEngine();
  const typesdb = join(engine.directory, 'types.db');
  writeFileSync(typesdb, 'gauge value:GAUGE:U:U\n');
  await engine.start({
    'default-retention-policy': 'standard',
    udp: [{ ...LISTEN, database: 'in', buffer: 5 }],
    graphite: [{ ...LISTEN, database: 'in', templates: ['measurement.host'] }],
    opentsdb: [{ ...LISTEN, database: 'in' }],
    collectd: [{ ...LISTEN, database: 'in', typesdb }],
  });
});

afterEach(() => engine.close());

async function post(path: string, body: unknown): Promise<{ status: number; json: any }> {
  const response = await fetch(engine.url + path, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, json: await response.json() };
}

async function watchAll(db: string, rp: string): Promise<void> {
  const script = "stream|from().measurement('m').groupBy(*)|httpOut('out')";
  const task = { id: 'watch', type: 'stream', dbrps: [{ db, rp }], script, status: 'enabled' };
  expect((await post('/engine/v1/tasks', task)).status).toBe(200);
}

async function row(): Promise<unknown> {
  return eventually('a row', async () => {
    const response = await fetch(`${engine.url}/engine/v1/tasks/watch/out`);
    const { series } = (await response.json()) as {
      series?: { tags: object; values: unknown[][] }[];
    };
    const first = series?.[0];
    return first === undefined ? undefined : [first.tags, first.values[0]?.at(-1)];
  });
}

/** Port of a listener, as the statistics show it. */
async function portOf(kind: string): Promise<number> {
  const response = await fetch(`${engine.url}/engine/v1/debug/vars`);
  const vars = (await response.json()) as {
    tidemark: Record<string, { name: string; tags: { bind?: string } }>;
  };
  const found = Object.values(vars.tidemark).find(({ name }) => name === kind);
  return Number(found?.tags.bind?.split(':').at(-1));
}

function sendDatagram(port: number, text: string | Uint8Array): Promise<void> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.send(text, port, '127.0.0.1', () => socket.close(() => resolve()));
  });
}

function sendLines(port: number, text: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(text));
    socket.on('close', () => resolve()).resume();
  });
}

test('line protocol in datagrams reaches tasks under the default retention policy', async () => {
  await watchAll('in', 'standard');

  await sendDatagram(await portOf('udp'), 'm,h=a v=5 1704067200000000000');

  expect(await row()).toEqual([{ h: 'a' }, 5]);
});

test('a line of Graphite reaches tasks, taken apart by its template', async () => {
  await watchAll('in', 'standard');

  await sendLines(await portOf('graphite'), 'm.a 7 1704067200\n');

  expect(await row()).toEqual([{ host: 'a' }, 7]);
});

test('a put of OpenTSDB reaches tasks', async () => {
  await watchAll('in', 'standard');

  await sendLines(await portOf('opentsdb'), 'put m 1704067200 9 host=a\n');

  expect(await row()).toEqual([{ host: 'a' }, 9]);
});

test('a body of OpenTSDB is part of the memory of all bodies', async () => {
  const held = async (): Promise<number> => {
    const text = await (await fetch(`${engine.url}/metrics`)).text();
    return metricValue(text, 'tidemark_engine_memory_budget_bytes{budget="body"}');
  };
  const socket = connect(await portOf('opentsdb'), '127.0.0.1');
  socket.write('POST /api/put HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000\r\n\r\n[');

  await eventually('the body', async () => ((await held()) >= 2000 ? true : undefined));
  socket.destroy();
  await eventually('its end', async () => ((await held()) === 0 ? true : undefined));
});

/** One part of a packet of collectd: its type, its length with the header, its content. */
function part(type: number, content: Uint8Array): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt16BE(type, 0);
  header.writeUInt16BE(content.length + 4, 2);
  return Buffer.concat([header, content]);
}

test('a packet of collectd reaches tasks, its types read from the file of types', async () => {
  const script = "stream|from().groupBy(*)|httpOut('out')";
  const dbrps = [{ db: 'in', rp: 'standard' }];
  const task = { id: 'watch', dbrps, script, status: 'enabled' };
  expect((await post('/engine/v1/tasks', task)).status).toBe(200);
  const time = Buffer.alloc(8);
  // In units of 2⁻³⁰ seconds.
  time.writeBigUInt64BE(1_704_067_200n << 30n);
  // One value, a gauge, which alone is little-endian.
  const values = Buffer.alloc(11);
  values.writeUInt16BE(1, 0);
  values.writeUInt8(1, 2);
  values.writeDoubleLE(2.5, 3);
  const text = (name: string): Buffer => Buffer.from(`${name}\0`);
  const packet = Buffer.concat([
    part(0x0000, text('server')),
    part(0x0008, time),
    part(0x0002, text('m')),
    part(0x0004, text('gauge')),
    part(0x0006, values),
  ]);

  await sendDatagram(await portOf('collectd'), packet);

  expect(await row()).toEqual([{ host: 'server', type: 'gauge' }, 2.5]);
});

test('a scraper that is configured while the engine runs feeds tasks, and can be tried', async () => {
  const exporter = new TestServer(() => ({ body: 'm{code="200"} 11\n' }));
  await exporter.open();
  const address = `127.0.0.1:${exporter.port}`;
  try {
    await watchAll('prometheus', 'autogen');
    const discoverer = { add: { id: 'here', enabled: true, targets: [address] } };
    expect((await post('/engine/v1/config/static-discovery', discoverer)).status).toBe(200);
    const scraper = {
      name: 'web',
      enabled: true,
      'discoverer-service': 'static-discovery',
      'discoverer-id': 'here',
    };
    expect((await post('/engine/v1/config/scraper', { add: scraper })).status).toBe(200);

    expect(await row()).toEqual([{ __name__: 'm', code: '200', instance: address }, 11]);
    expect((await post('/engine/v1/service-tests/scraper', { name: 'web' })).json).toEqual({
      success: true,
      message: '',
    });
    expect((await post('/engine/v1/service-tests/static-discovery', { id: 'other' })).json).toEqual(
      {
        success: false,
        message: 'service is not enabled',
      },
    );
  } finally {
    await exporter.close();
  }
});
