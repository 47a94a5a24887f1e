// Listeners when authentication is on and senders have no credentials: each behaves as its row of
// the table says.
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { LISTENER_KINDS } from '@tidemark/listeners';
import type { ListenerKind } from '@tidemark/listeners';
import { TSDB_CONFIG } from '../config/schema.ts';
import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';

let service: TestService;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tidemark-listeners-'));
  const types = join(directory, 'types.db');
  const auth = join(directory, 'auth');
  writeFileSync(types, 'gauge value:GAUGE:U:U\n');
  writeFileSync(auth, 'ana: secret\n');
  const common = { enabled: true, 'bind-address': '127.0.0.1:0', 'batch-size': 1 };
  service = await startTestService({
    config: { http: { 'auth-enabled': true } },
    sections: {
      udp: [common],
      graphite: [common],
      opentsdb: [common],
      collectd: [{ ...common, typesdb: types, 'auth-file': auth, 'security-level': 'sign' }],
    },
  });
  await service.query("CREATE USER root WITH PASSWORD 'pw' WITH ALL PRIVILEGES");
});
afterAll(async () => {
  await service.close();
  rmSync(directory, { recursive: true });
});

function portOf(kind: string): number {
  for (const line of service.logged) {
    const { listener, port } = JSON.parse(line) as { listener?: string; port?: number };
    if (listener === kind && port !== undefined) return port;
  }
  throw new Error(`${kind} does not listen`);
}

function datagram(port: number, bytes: string | Uint8Array): Promise<void> {
  const socket = createSocket('udp4');
  return new Promise((resolve) => {
    socket.send(bytes, port, '127.0.0.1', () => socket.close(() => resolve()));
  });
}

function lines(port: number, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.resume();
    socket.end(text);
  });
}

/** host "a", plugin "p", type "gauge", one gauge; neither signed nor encrypted. */
function collectdPacket(): Uint8Array {
  const part = (type: number, payload: Buffer): Buffer => {
    const head = Buffer.alloc(4);
    head.writeUInt16BE(type);
    head.writeUInt16BE(payload.length + 4, 2);
    return Buffer.concat([head, payload]);
  };
  const value = Buffer.alloc(11);
  value.writeUInt16BE(1);
  value.writeUInt8(1, 2);
  value.writeDoubleLE(5, 3);
  return Buffer.concat([
    part(0, Buffer.from('a\0')),
    part(2, Buffer.from('p\0')),
    part(4, Buffer.from('gauge\0')),
    part(6, value),
  ]);
}

const SEND: Readonly<Record<ListenerKind['section'], (port: number) => Promise<void>>> = {
  udp: (port) => datagram(port, 'm f=1 1'),
  graphite: (port) => lines(port, 'a.b 1 1\n'),
  opentsdb: (port) => lines(port, 'put a.b 1 1 host=a\n'),
  collectd: (port) => datagram(port, collectdPacket()),
};

test('every listener of the configuration has its row', () => {
  const sections = Object.entries(TSDB_CONFIG).filter(([, section]) => section.isRepeated);
  expect(LISTENER_KINDS.map(({ section }) => section as string).toSorted()).toEqual(
    sections.map(([name]) => name).toSorted(),
  );
});

test.each(LISTENER_KINDS)('$section demands: $right', async ({ section, right }) => {
  await SEND[section](portOf(section));

  const counted = await untilDefined('what was sent', async () => {
    const { json } = await service.get('/debug/vars?u=root&p=pw');
    type Module = {
      readonly name?: string;
      readonly values: { readonly pointsTx: number; readonly pointsParseFail: number };
    };
    const modules = Object.values(json as Record<string, Module>);
    const values = modules.find(({ name }) => name === section)?.values;
    if (values === undefined) return undefined;
    return values.pointsTx + values.pointsParseFail > 0 ? values : undefined;
  });

  const { json } = await service.get('/debug/rejected?u=root&p=pw');
  const source = `${section}:127.0.0.1`;
  if (right === 'none') {
    expect(counted).toMatchObject({ pointsTx: 1, pointsParseFail: 0 });
    expect(json.counts[source]).toBeUndefined();
  } else {
    expect(counted).toMatchObject({ pointsTx: 0, pointsParseFail: 1 });
    expect(json.counts[source]).toBe(1);
  }
});

test('a listener that checks nobody and can be reached by others is in the log', async () => {
  const open = await startTestService({
    sections: { udp: [{ enabled: true, 'bind-address': '0.0.0.0:0' }] },
  });
  const warnings = open.logged.filter((line) => line.includes('anybody who reaches it'));
  await open.close();
  expect(warnings).toHaveLength(1);
  expect(service.logged.filter((line) => line.includes('anybody who reaches it'))).toEqual([]);
});
