import { createCipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { metricValue } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';

let service: TestService;
let directory: string;
let ports: Record<string, number>;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-listeners-'));
  writeFileSync(
    join(directory, 'types.db'),
    '# comment\ngauge value:GAUGE:U:U\nif_octets rx:DERIVE:0:U, tx:DERIVE:0:U\n',
  );
  writeFileSync(join(directory, 'auth'), '# users\nalice: secret\n');
  const common = { enabled: true, 'bind-address': '127.0.0.1:0', 'batch-size': 1 };
  const collectd = {
    ...common,
    typesdb: join(directory, 'types.db'),
    'auth-file': join(directory, 'auth'),
  };
  service = await startTestService({
    sections: {
      udp: [
        { ...common, database: 'udp', precision: 's' },
        { ...common, database: 'packets', precision: 's', 'batch-size': 50 },
      ],
      graphite: [
        {
          ...common,
          database: 'graphite',
          tags: ['dc=x'],
          templates: [
            'servers.* .host.resource.measurement*',
            'servers.localhost.special host.host.measurement.field* kind=s',
          ],
        },
        { ...common, database: 'graphite', protocol: 'udp' },
      ],
      collectd: [
        { ...collectd, database: 'collectd' },
        {
          ...collectd,
          database: 'encrypted',
          'security-level': 'encrypt',
          'parse-multivalue-plugin': 'join',
        },
        { ...collectd, database: 'signed', 'security-level': 'sign' },
      ],
      opentsdb: [{ ...common, database: 'opentsdb' }],
    },
  });
  ports = {};
  for (const line of service.logged) {
    const { listener, port } = JSON.parse(line) as { listener?: string; port?: number };
    if (listener === undefined || port === undefined) continue;
    const count = Object.keys(ports).filter((name) => name.startsWith(listener)).length;
    ports[`${listener}${count}`] = port;
  }
});
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true });
});

function sendDatagram(listener: string, bytes: string | Uint8Array): Promise<void> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.send(bytes, ports[listener] ?? 0, '127.0.0.1', () => {
      socket.close();
      resolve();
    });
  });
}

function sendTcp(listener: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(ports[listener] ?? 0, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    socket.end(text);
  });
}

const rows = async (db: string, q: string): Promise<unknown[][] | undefined> => {
  const { json } = await service.query(q, { db, epoch: 's' });
  return json.results[0].series?.[0].values;
};

async function counters(module: string, bind = 0): Promise<Record<string, number>> {
  const { json } = await service.get('/debug/vars');
  const modules = Object.values(
    json as Record<string, { name?: string; values: Record<string, number> }>,
  );
  return modules.filter(({ name }) => name === module)[bind]?.values ?? {};
}

test('UDP takes line protocol, counts what it cannot read', async () => {
  await sendDatagram('udp0', 'm,t=a f=1 5\nbad\nm f=2 6');
  const found = await untilDefined('points', async () => {
    const all = await rows('udp', 'SELECT f FROM m');
    return all?.length === 2 ? all : undefined;
  });
  expect(found).toEqual([
    [5, 1],
    [6, 2],
  ]);
  expect(await counters('udp')).toMatchObject({ pointsRx: 2, pointsParseFail: 1, pointsTx: 2 });
});

test('packets that come together are one write', async () => {
  const socket = createSocket('udp4');
  for (let time = 1; time <= 50; time++)
    socket.send(`m f=${time} ${time}`, ports['udp1'] ?? 0, '127.0.0.1');
  const found = await untilDefined('points', () => rows('packets', 'SELECT count(f) FROM m'));
  socket.close();

  expect(found).toEqual([[0, 50]]);
  expect(await counters('udp', 1)).toMatchObject({ pointsRx: 50, pointsTx: 50, batchesTx: 1 });
});

describe('Graphite', () => {
  test('templates name measurement, tags and fields; the most specific one wins', async () => {
    await sendTcp(
      'graphite0',
      [
        'servers.a.cpu.loadavg.10 1.5 100',
        'servers.localhost.special.free.bytes 7 100',
        'plain.path 3 100',
        'not a number x',
        '',
      ].join('\n'),
    );
    await untilDefined('points', () => rows('graphite', 'SELECT * FROM "plain.path"'));
    expect(await rows('graphite', 'SELECT value, host, resource, dc FROM "loadavg.10"')).toEqual([
      [100, 1.5, 'a', 'cpu', 'x'],
    ]);
    expect(await rows('graphite', 'SELECT "free.bytes", host, kind FROM special')).toEqual([
      [100, 7, 'servers.localhost', 's'],
    ]);
    expect((await counters('graphite')).pointsParseFail).toBe(1);
  });

  test('over UDP', async () => {
    await sendDatagram('graphite1', 'over.udp 4 100\n');
    expect(
      await untilDefined('the point', () => rows('graphite', 'SELECT value FROM "over.udp"')),
    ).toEqual([[100, 4]]);
  });
});

describe('OpenTSDB', () => {
  test('telnet puts, seconds and milliseconds', async () => {
    const answer = await sendTcp(
      'opentsdb0',
      'version\nput sys.cpu 100 1.5 host=a cpu=0\nput sys.cpu 1356998400000 2 host=b\nput broken\n',
    );
    expect(answer).toBe('tidemark\n');
    await untilDefined('points', async () =>
      (await rows('opentsdb', 'SELECT value, host FROM "sys.cpu"'))?.length === 2
        ? true
        : undefined,
    );
    expect(await rows('opentsdb', 'SELECT value, host FROM "sys.cpu"')).toEqual([
      [100, 1.5, 'a'],
      [1356998400, 2, 'b'],
    ]);
    expect((await counters('opentsdb')).pointsParseFail).toBe(1);
  });

  const put = (body: string) =>
    fetch(`http://127.0.0.1:${ports['opentsdb0']}/api/put`, { method: 'POST', body });
  const point = { metric: 'http.m', timestamp: 100, value: 3, tags: { host: 'c' } };

  test('JSON over HTTP on the same port; what was accepted is visible', async () => {
    expect((await put(JSON.stringify([point, { ...point, timestamp: 101 }]))).status).toBe(204);
    expect(await rows('opentsdb', 'SELECT value, host FROM "http.m"')).toHaveLength(2);
    expect((await put(JSON.stringify({ ...point, value: 'x' }))).status).toBe(400);
    expect((await put('nonsense')).status).toBe(400);
  });

  test('a body of more points than may wait is stored as a whole', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({
      ...point,
      metric: 'http.many',
      timestamp: 100 + i,
    }));
    expect((await put(JSON.stringify(many))).status).toBe(204);
    expect(await rows('opentsdb', 'SELECT count(value) FROM "http.many"')).toEqual([[0, 20_000]]);
  });

  test('points that storage refuses are named in the answer', async () => {
    await service.write('http.text value="a" 1', { db: 'opentsdb' });
    const answer = await put(JSON.stringify([{ ...point, metric: 'http.text' }, point]));

    expect(answer.status).toBe(400);
    expect(await answer.text()).toMatch(/^1 points were refused: .*type conflict/);
  });
});

test('bodies of OpenTSDB wait for room in the memory of all bodies', async () => {
  const small = await startTestService({
    config: { http: { 'body-memory-limit': '1m', 'body-memory-timeout': '1h' } },
    sections: { opentsdb: [{ enabled: true, 'bind-address': '127.0.0.1:0', database: 'o' }] },
  });
  const line = small.logged.find((each) => each.includes('"listener":"opentsdb"')) ?? '{}';
  const { port } = JSON.parse(line) as { port: number };
  const waitingIs = (count: number): Promise<true> =>
    untilDefined(`${count} waiting`, async () => {
      const { text } = await small.get('/metrics');
      const waiting = metricValue(text, 'tidemark_tsdb_memory_budget_waiting{budget="body"}');
      return waiting === count ? true : undefined;
    });
  const put = (value: number): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/api/put`, {
      method: 'POST',
      body: JSON.stringify([{ metric: 'm', timestamp: 100, value }]),
    });
  try {
    // Points take more than their text, so that this one takes all that there is.
    const slow = connect(port, '127.0.0.1');
    slow.write('POST /api/put HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n[');
    await untilDefined('the slow body', async () => {
      const { text } = await small.get('/metrics');
      const bytes = metricValue(text, 'tidemark_tsdb_memory_budget_bytes{budget="body"}');
      return bytes > 0 ? true : undefined;
    });
    const waiting = put(1);
    await waitingIs(1);
    slow.destroy();

    expect((await waiting).status).toBe(204);
    await waitingIs(0);
  } finally {
    await small.close();
  }
});

describe('a page of a browser writes nothing', () => {
  const post = (listener: string, headers: Record<string, string>, body: string) =>
    new Promise<number | string>((resolve) => {
      const options = { method: 'POST', port: ports[listener], path: '/api/put', headers };
      const outgoing = request({ host: '127.0.0.1', ...options }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      outgoing.on('error', () => resolve('cut off'));
      outgoing.end(body);
    });

  test('over HTTP of OpenTSDB', async () => {
    const point = JSON.stringify({ metric: 'planted', timestamp: 100, value: 3 });
    for (const [headers, status] of [
      [{ Origin: 'http://evil.example', 'Content-Type': 'text/plain' }, 403],
      [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
      [{ Host: 'evil.example' }, 421],
    ] as const) {
      expect(await post('opentsdb0', headers, point)).toBe(status);
    }
    expect(await post('opentsdb0', { Host: 'localhost:4242' }, point)).toBe(204);
  });

  test('as lines in the body of a request', async () => {
    expect(await post('graphite0', { Origin: 'null' }, 'planted.path 1 100\n')).toBe('cut off');
    await sendTcp('graphite0', 'honest.path 1 100\n');
    await untilDefined('the point', () => rows('graphite', 'SELECT * FROM "honest.path"'));
    expect(await rows('graphite', 'SELECT * FROM "planted.path"')).toBe(undefined);
  });
});

describe('collectd', () => {
  const part = (type: number, content: Buffer): Buffer => {
    const header = Buffer.alloc(4);
    header.writeUInt16BE(type, 0);
    header.writeUInt16BE(content.length + 4, 2);
    return Buffer.concat([header, content]);
  };
  const text = (type: number, value: string): Buffer => part(type, Buffer.from(`${value}\0`));
  const number = (type: number, value: bigint): Buffer => {
    const content = Buffer.alloc(8);
    content.writeBigUInt64BE(value);
    return part(type, content);
  };
  const values = (...all: readonly [kind: number, value: number][]): Buffer => {
    const content = Buffer.alloc(2 + 9 * all.length);
    content.writeUInt16BE(all.length, 0);
    for (const [i, [kind, value]] of all.entries()) {
      content.writeUInt8(kind, 2 + i);
      const at = 2 + all.length + 8 * i;
      if (kind === 1) content.writeDoubleLE(value, at);
      else content.writeBigInt64BE(BigInt(value), at);
    }
    return part(6, content);
  };
  const packet = Buffer.concat([
    text(0, 'myhost'),
    number(8, 100n << 30n),
    text(2, 'memory'),
    text(4, 'gauge'),
    text(5, 'used'),
    values([1, 1.5]),
    text(2, 'interface'),
    text(3, 'eth0'),
    text(4, 'if_octets'),
    text(5, ''),
    values([2, 10], [2, 20]),
  ]);

  test('values become points named by plugin and data source', async () => {
    await sendDatagram('collectd0', packet);
    await untilDefined('points', () => rows('collectd', 'SELECT value FROM interface_tx'));
    expect(
      await rows('collectd', 'SELECT value, host, type, type_instance FROM memory_value'),
    ).toEqual([[100, 1.5, 'myhost', 'gauge', 'used']]);
    expect(await rows('collectd', 'SELECT value, instance FROM interface_rx')).toEqual([
      [100, 10, 'eth0'],
    ]);
  });

  test('an encrypted packet is read, and its values joined when asked', async () => {
    const user = Buffer.from('alice');
    const iv = randomBytes(16);
    const key = createHash('sha256').update('secret').digest();
    const cipher = createCipheriv('aes-256-ofb', key, iv);
    const plain = Buffer.concat([createHash('sha1').update(packet).digest(), packet]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(user.length);
    await sendDatagram(
      'collectd1',
      part(0x210, Buffer.concat([length, user, iv, cipher.update(plain), cipher.final()])),
    );
    expect(
      await untilDefined('points', () => rows('encrypted', 'SELECT rx, tx FROM interface')),
    ).toEqual([[100, 10, 20]]);
  });

  test('packets that are not encrypted, or signed wrongly, are refused and counted', async () => {
    await sendDatagram('collectd1', packet);
    await untilDefined('the count', async () =>
      (await counters('collectd', 1)).pointsParseFail === 1 ? true : undefined,
    );

    const user = Buffer.from('alice');
    const signed = (password: string): Buffer =>
      Buffer.concat([
        part(
          0x200,
          Buffer.concat([
            createHmac('sha256', password).update(user).update(packet).digest(),
            user,
          ]),
        ),
        packet,
      ]);
    await sendDatagram('collectd2', signed('wrong'));
    await untilDefined('the count', async () =>
      (await counters('collectd', 2)).pointsParseFail === 1 ? true : undefined,
    );
    expect(await rows('signed', 'SELECT * FROM memory_value')).toBeUndefined();
    await sendDatagram('collectd2', signed('secret'));
    await untilDefined('points', () => rows('signed', 'SELECT * FROM memory_value'));
  });

  test('any bytes are survived', async () => {
    for (let i = 0; i < 50; i++) await sendDatagram('collectd0', randomBytes(i));
    expect((await service.get('/ping')).status).toBe(204);
  });
});

test('a setting that makes no sense stops the start with its name', async () => {
  await expect(
    startTestService({
      sections: {
        graphite: [{ enabled: true, 'bind-address': '127.0.0.1:0', templates: ['a.b'] }],
      },
    }),
  ).rejects.toThrow(/graphite.templates: "a.b" must be/);
  await expect(
    startTestService({
      sections: {
        collectd: [{ enabled: true, 'bind-address': '127.0.0.1:0', typesdb: '/nowhere' }],
      },
    }),
  ).rejects.toThrow(/collectd.typesdb cannot be read/);
});
