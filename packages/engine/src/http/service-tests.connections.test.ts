// Service tests without HTTP, through the endpoint and real connections: an MQTT broker (mosquitto)
// and a Kafka broker (librdkafka's, inside of kcat), mail, traps, Sensu, exporters and their
// discoverers. All share one engine.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { eventually, freePort, hasPrograms } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const hasMosquitto = hasPrograms('mosquitto', 'mosquitto_sub');
const hasKcat = hasPrograms('kcat');
const START_TIMEOUT_MS = 60_000;

const engine = new TestEngine();
const servers: (net.Server | Socket)[] = [];
const children: ChildProcess[] = [];

afterAll(async () => {
  await engine.close();
  for (const server of servers) server.close();
  for (const child of children) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
  }
});

async function listen<T extends net.Server>(server: T): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function bind(
  onMessage: (message: Buffer, reply: (bytes: Buffer) => void) => void,
): Promise<number> {
  const socket = createSocket('udp4');
  servers.push(socket);
  socket.on('message', (message, from) =>
    onMessage(message, (bytes) => socket.send(bytes, from.port, from.address)),
  );
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return socket.address().port;
}

/** Answers each line that a client sends; `undefined` answers nothing. */
function lineServer(greeting: string, answer: (line: string) => string | undefined): net.Server {
  return net.createServer((socket) => {
    let rest = '';
    socket.on('error', () => undefined);
    if (greeting !== '') socket.write(greeting);
    socket.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const text = answer(line);
        if (text !== undefined) socket.write(`${text}\r\n`);
      }
    });
  });
}

const mails: string[] = [];
let isInMail = false;
const mailServer = lineServer('220 localhost\r\n', (line) => {
  if (isInMail) {
    mails.push(line);
    if (line !== '.') return undefined;
    isInMail = false;
    return '250 taken';
  }
  if (line.startsWith('EHLO')) return '250 localhost';
  if (line.startsWith('RCPT TO:<nobody')) return '550 nobody of that name';
  if (line === 'QUIT') return '221 bye';
  isInMail = line === 'DATA';
  return isInMail ? '354 go on' : '250 ok';
});

const checks: unknown[] = [];
/** Sensu's client: a check as JSON, answered when it is whole. */
const sensuServer = net.createServer((socket) => {
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    const isWhole = text.trimEnd().endsWith('}');
    if (!isWhole) return;
    checks.push(JSON.parse(text));
    socket.end(text.includes('refuse') ? 'invalid\n' : 'ok\n');
  });
});

let scrapeCount = 0;
const exporter = http.createServer((request, response) => {
  scrapeCount++;
  response.writeHead(request.url === '/metrics' ? 200 : 404).end('up 1\n');
});

const traps: Buffer[] = [];
const names: string[] = [];

/** Knows one address, of `known.test`. */
function answerName(query: Buffer, reply: (bytes: Buffer) => void): void {
  const end = query.indexOf(0, 12);
  const isKnown = query.subarray(12, end).includes('known');
  names.push(query.subarray(13, end).toString('latin1'));
  const header = Buffer.from([
    0,
    0,
    0x81,
    isKnown ? 0x80 : 0x83,
    0,
    1,
    0,
    isKnown ? 1 : 0,
    0,
    0,
    0,
    0,
  ]);
  query.copy(header, 0, 0, 2);
  const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 1, 2, 3]);
  const question = query.subarray(12, end + 5);
  reply(Buffer.concat([header, question, ...(isKnown ? [answer] : [])]));
}

type Printed = { readonly out: () => string; readonly err: () => string };

/**
 * Starts a program and collects what it prints: each stream by itself, so that none cuts the lines
 * of the other.
 */
function start(file: string, args: readonly string[]): Printed {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  return { out: collected(child.stdout), err: collected(child.stderr) };
}

function collected(stream: Readable): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

let kcat: Printed | undefined;
async function kafkaBroker(): Promise<string> {
  if (!hasKcat) return '127.0.0.1:1';
  const mock = ['-X', 'test.mock.num.brokers=1', '-d', 'mock'];
  const broker = start('kcat', [
    '-C',
    '-b',
    'unused',
    '-t',
    'test',
    '-u',
    '-f',
    '<%k|%s>\n',
    ...mock,
  ]);
  kcat = broker;
  return eventually('the broker', async () => /bootstrap\.servers=(\S+)/.exec(broker.err())?.at(1));
}

let mqttPort = 0;
async function mqttBroker(): Promise<number> {
  if (!hasMosquitto) return 1;
  const port = await freePort();
  const file = join(engine.directory, 'mosquitto.conf');
  writeFileSync(file, `listener ${port} 127.0.0.1\nallow_anonymous true\n`);
  start('mosquitto', ['-c', file]);
  await eventually(
    'mosquitto',
    () =>
      new Promise<true | undefined>((resolve) => {
        const socket = net.connect(port, '127.0.0.1', () => resolve(true));
        socket.on('error', () => resolve(undefined)).on('connect', () => socket.destroy());
      }),
  );
  return port;
}

beforeAll(async () => {
  const on = { enabled: true };
  const closed = await freePort();
  mqttPort = await mqttBroker();
  const targets = [`127.0.0.1:${await listen(exporter)}`];
  const lists = join(engine.directory, 'targets');
  mkdirSync(lists);
  writeFileSync(join(lists, 'good.json'), JSON.stringify([{ targets }]));
  writeFileSync(join(lists, 'bad.json'), '{"targets": []}');
  const resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${await bind(answerName)}`]);
  const scraper = {
    ...on,
    'discoverer-service': 'static-discovery',
    'discoverer-id': 'good',
    db: 'd',
  };
  await engine.start(
    {
      smtp: {
        ...on,
        host: '127.0.0.1',
        port: await listen(mailServer),
        from: 'me@x',
        to: ['you@x'],
      },
      sensu: { ...on, addr: `127.0.0.1:${await listen(sensuServer)}`, source: 'tide' },
      snmptrap: {
        ...on,
        addr: `127.0.0.1:${await bind((trap) => traps.push(trap))}`,
        community: 'c',
      },
      mqtt: [
        { ...on, name: 'good', default: true, url: `tcp://127.0.0.1:${mqttPort}` },
        { ...on, name: 'bad', url: `tcp://127.0.0.1:${closed}` },
      ],
      kafka: [
        { ...on, id: 'good', brokers: [await kafkaBroker()] },
        { ...on, id: 'bad', brokers: [`127.0.0.1:${closed}`] },
      ],
      'static-discovery': [{ ...on, id: 'good', targets }],
      'file-discovery': [
        { ...on, id: 'good', files: [join(lists, 'good.json')] },
        { ...on, id: 'bad', files: [join(lists, 'bad.json')] },
      ],
      dns: ['known', 'unknown'].map((id) => ({
        ...on,
        id,
        type: 'A',
        'record-names': [`${id === 'known' ? 'known' : 'other'}.test`],
      })),
      // An hour apart: what is counted here is what the tests ask for.
      scraper: [
        { ...scraper, name: 'good', 'scrape-interval': '1h' },
        { ...scraper, name: 'bad', 'scrape-interval': '1h', 'metrics-path': '/none' },
      ],
    },
    { resolver },
  );
}, START_TIMEOUT_MS);

async function run(name: string, options: object): Promise<unknown> {
  const answer = await engine.call('POST', `/engine/v1/service-tests/${name}`, options);
  expect(answer.status).toBe(200);
  return answer.json;
}

const SUCCESS = { success: true, message: '' };
const failure = (pattern: RegExp): object => ({
  success: false,
  message: expect.stringMatching(pattern),
});

test('smtp sends a mail, and tells why one is refused', async () => {
  expect(await run('smtp', { subject: 'does it work' })).toEqual(SUCCESS);
  expect(mails).toContain('Subject: does it work');
  expect(mails).toContain('To: you@x');
  expect(await run('smtp', { to: ['nobody@x'] })).toEqual(failure(/550 nobody of that name/));
});

test('sensu sends a check, and tells what the answer was', async () => {
  expect(await run('sensu', { name: 'probe' })).toEqual(SUCCESS);
  expect(checks[0]).toMatchObject({
    name: 'probe',
    source: 'tide',
    output: 'testOutput',
    status: 2,
  });
  expect(await run('sensu', { output: 'refuse' })).toEqual(failure(/invalid/));
});

test('snmptrap sends a trap, and tells what cannot be one', async () => {
  expect(await run('snmptrap', {})).toEqual(SUCCESS);
  const trap = await eventually('the trap', async () => traps[0]);
  // A sequence, with the configured community and the default value in it.
  expect(trap[0]).toBe(0x30);
  expect(trap.includes('test')).toBe(true);
  expect(await run('snmptrap', { 'trap-oid': 'x' })).toEqual(failure(/./));
});

describe.runIf(hasMosquitto)('with mosquitto', () => {
  test('mqtt publishes, and tells of a broker that is away', async () => {
    expect(await run('mqtt', { topic: 'probe', message: 'works', retained: true })).toEqual(
      SUCCESS,
    );
    const printed = start('mosquitto_sub', ['-p', String(mqttPort), '-t', 'probe', '-C', '1']);
    await eventually('the message', async () => (printed.out() === 'works\n' ? true : undefined));
    expect(await run('mqtt', { 'broker-name': 'bad', topic: 'probe' })).toEqual(failure(/./));
  });
});

describe.runIf(hasKcat)('with a broker of librdkafka', () => {
  test('kafka writes, and tells of brokers that are away', async () => {
    expect(await run('kafka', { cluster: 'good', message: 'works' })).toEqual(SUCCESS);
    await eventually('the message', async () =>
      kcat?.out().includes('<key|works>') ? true : undefined,
    );
    expect(await run('kafka', { cluster: 'bad' })).toEqual(failure(/./));
  });
});

test('scraper reads a page, and tells of one that is not there', async () => {
  const before = scrapeCount;
  expect(await run('scraper', { name: 'good' })).toEqual(SUCCESS);
  expect(await run('scraper', { name: 'bad' })).toEqual(failure(/404/));
  expect(scrapeCount).toBeGreaterThanOrEqual(before + 2);
});

test('static-discovery, file-discovery and dns look for targets', async () => {
  expect(await run('static-discovery', { id: 'good' })).toEqual(SUCCESS);
  expect(await run('file-discovery', { id: 'good' })).toEqual(SUCCESS);
  expect(await run('file-discovery', { id: 'bad' })).toEqual(failure(/bad\.json/));
  expect(await run('dns', { id: 'known' })).toEqual(SUCCESS);
  expect(await run('dns', { id: 'unknown' })).toEqual(failure(/other\.test/));
  expect(names.some((name) => name.startsWith('known'))).toBe(true);
});

test('every test there is tells that its service is not enabled where it is not', async () => {
  const quiet = new TestEngine();
  await quiet.start();
  try {
    const { json } = await quiet.call('GET', '/engine/v1/service-tests');
    const listed: string[] = json.services.map(({ name }: { readonly name: string }) => name);
    expect(listed).toEqual(
      expect.arrayContaining(['azure', 'consul', 'gce', 'influxdb', 'triton']),
    );
    // Asked without options it tries a server of this machine, whatever that is.
    for (const name of listed.filter((each) => each !== 'httppost')) {
      const answer = await quiet.call('POST', `/engine/v1/service-tests/${name}`, {});
      const reason = /service is not enabled$|^no default tsdb cluster|^unknown cluster "example"$/;
      expect([name, answer.json]).toEqual([name, failure(reason)]);
    }
  } finally {
    await quiet.close();
  }
});
