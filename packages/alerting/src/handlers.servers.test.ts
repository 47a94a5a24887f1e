// Handlers against real servers: mosquitto, a broker that speaks Kafka's protocol (librdkafka's,
// inside of kcat), snmptrapd, and a mail server with TLS and passwords.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { InvalidRequest, systemClock, Unavailable } from '@tidemark/core';
import { eventually, freePort, hasPrograms, run, sectionsOf } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decodeOptions, httpSender } from '@tidemark/settings';
import type { Options } from '@tidemark/settings';
import { connectionCache } from './connection-cache.ts';
import type { TopicEvent } from './event.ts';
import { printEventJson } from './event.ts';
import { tlsModeOf } from './handlers/smtp.ts';
import { findHandlerKind } from './registry.ts';
import { handlerContext } from './testing/handler-context.ts';

const EVENT: TopicEvent = {
  id: 'cpu:host=a',
  message: 'too hot',
  details: '<b>hot</b>',
  time: 1_704_067_200_000_000_005n,
  durationNanos: 60_000_000_000n,
  level: 'CRITICAL',
  previousLevel: 'OK',
  isRecoverable: true,
  data: [{ name: 'cpu', columns: ['time', 'v'], values: [[1n, 5n]] }],
  topic: 'top',
  hops: 0,
  context: { name: 'cpu', taskName: 'watch', group: '', category: '', tags: {}, fields: {} },
};

const hasMosquitto = hasPrograms('mosquitto', 'mosquitto_passwd', 'mosquitto_sub');
const hasKcat = hasPrograms('kcat');
const hasTrapd = hasPrograms('snmptrapd');

let directory = '';
let sections: Record<string, readonly Options[]> = {};
const children: ChildProcess[] = [];
const connections = connectionCache(systemClock());
const sender = httpSender();

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'handler-servers-'));
  sections = {};
});

afterEach(async () => {
  await connections.close();
  await sender.close();
  for (const child of children.splice(0)) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGKILL')) await ended;
  }
  rmSync(directory, { recursive: true, force: true });
});

/** Starts a server and collects what it prints. */
type Printed = { readonly lines: () => readonly string[]; readonly all: () => string };

/**
 * Starts a program; the whole lines of its standard output so far, and everything of both streams.
 */
function start(file: string, args: readonly string[]): Printed {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  return { lines: () => stdout.split('\n').slice(0, -1), all: () => `${stdout}\n${stderr}` };
}

async function isListening(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(undefined));
    socket.on('connect', () => socket.destroy());
  });
}

async function send(
  kindName: string,
  given: Record<string, unknown>,
  section: Record<string, Options[string]>,
  event: TopicEvent = EVENT,
): Promise<void> {
  const kind = findHandlerKind(kindName);
  if (kind?.section === undefined || !('send' in kind))
    throw new Error(`no kind ${kindName} with a section`);
  sections[kind.section.name] = [section];
  const decoded = decodeOptions(kind.options, kind.kind, given);
  if (!decoded.ok) throw new Error(decoded.reason);
  const context = handlerContext({
    section: sectionsOf(sections).section,
    http: sender,
    connections,
    render: (template) => template,
  });
  await kind.send(event, decoded.options, context);
}

describe.runIf(hasMosquitto)('mqtt to mosquitto', () => {
  let port = 0;

  beforeEach(async () => {
    port = await freePort();
    const passwords = join(directory, 'passwords');
    await run('mosquitto_passwd', ['-c', '-b', passwords, 'engine', 'secret']);
    // The broker gives up its rights and must still read the file.
    const user = process.getuid?.() === 0 ? 'user root\n' : '';
    const config = `${user}listener ${port} 127.0.0.1\nallow_anonymous false\npassword_file ${passwords}\n`;
    writeFileSync(join(directory, 'mosquitto.conf'), config);
    start('mosquitto', ['-c', join(directory, 'mosquitto.conf')]);
    await eventually('mosquitto', () => isListening(port));
  });

  const broker = (password = 'secret'): Record<string, Options[string]> => ({
    enabled: true,
    url: `tcp://127.0.0.1:${port}`,
    username: 'engine',
    password,
  });

  test.each(['at-most-once', 'at-least-once', 'exactly-one'])(
    'a retained message arrives %s, to a client that comes later too',
    async (qos) => {
      await send('mqtt', { topic: 'alerts/cpu', qos, retained: true }, broker());

      const level = { 'at-most-once': 0, 'at-least-once': 1, 'exactly-one': 2 }[qos];
      const login = ['-p', String(port), '-u', 'engine', '-P', 'secret'];
      const form = ['-t', 'alerts/#', '-F', '%t %q %r %p', '-q', '2', '-C', '1', '-W', '10'];
      // Nobody says when the broker has taken what was sent at most once: a client may be there
      // before it.
      await expect
        .poll(async () => (await run('mosquitto_sub', [...login, ...form])).stdout)
        .toBe(`alerts/cpu ${level} 1 too hot\n`);
    },
  );

  test('a wrong password is a failure that may pass', async () => {
    await expect(send('mqtt', { topic: 'alerts' }, broker('wrong'))).rejects.toThrow(Unavailable);
  });
});

describe.runIf(hasKcat)('kafka to a broker of librdkafka', () => {
  test('key is the id of the event, the value its JSON, the partition by hash of the key', async () => {
    // kcat holds the brokers and reads from them.
    const printed = start('kcat', [
      '-C',
      '-b',
      'unused',
      '-t',
      'events',
      '-u',
      '-f',
      '<%k|%s>\n',
      '-X',
      'test.mock.num.brokers=1',
      '-d',
      'mock',
    ]);
    const address = await eventually('the broker', async () =>
      /bootstrap\.servers=(\S+)\n/.exec(printed.all())?.at(1),
    );

    const section = { enabled: true, id: 'default', brokers: [address] };
    await send('kafka', { cluster: 'default', topic: 'events' }, section);
    await send('kafka', { cluster: 'default', topic: 'events' }, section, { ...EVENT, id: 'b' });

    const messages = await eventually('both messages', async () => {
      const lines = printed.lines().filter((line) => line.startsWith('<'));
      return lines.length === 2 ? lines.toSorted() : undefined;
    });
    expect(messages).toEqual([
      `<b|${printEventJson({ ...EVENT, id: 'b' })}>`,
      `<cpu:host=a|${printEventJson(EVENT)}>`,
    ]);
  });

  test('a broker that is away is a failure that may pass', async () => {
    const section = { enabled: true, id: 'default', brokers: [`127.0.0.1:${await freePort()}`] };

    await expect(send('kafka', { cluster: 'default', topic: 'events' }, section)).rejects.toThrow(
      Unavailable,
    );
  });
});

describe.runIf(hasTrapd)('snmptrap to snmptrapd', () => {
  test('the trap arrives with its object id and every type of value', async () => {
    const port = await freePort('udp');
    writeFileSync(join(directory, 'trapd.conf'), 'disableAuthorization yes\n');
    const printed = start('snmptrapd', [
      '-f',
      '-Lo',
      '-On',
      '-n',
      '-C',
      '-c',
      join(directory, 'trapd.conf'),
      `udp:127.0.0.1:${port}`,
    ]);
    await eventually('snmptrapd', async () =>
      /NET-SNMP version/.test(printed.all()) ? true : undefined,
    );
    const data = [
      ['s', 'too hot'],
      ['i', '-7'],
      ['c', '9007199254740993'],
      ['t', '100'],
      ['n', ''],
    ].map(([type, value], i) => ({ oid: `1.3.6.1.4.1.8072.9.${i + 1}`, type, value }));

    await send(
      'snmptrap',
      { 'trap-oid': '1.3.6.1.4.1.8072.2.3.0.1', 'data-list': data },
      { enabled: true, addr: `127.0.0.1:${port}`, community: 'secret' },
    );

    const line = await eventually('the trap', async () =>
      printed.lines().find((each) => each.includes('.8072.9.5')),
    );
    expect(line).toContain('.1.3.6.1.6.3.1.1.4.1.0 = OID: .1.3.6.1.4.1.8072.2.3.0.1');
    expect(line).toContain('.1.3.6.1.4.1.8072.9.1 = STRING: "too hot"');
    expect(line).toContain('.1.3.6.1.4.1.8072.9.2 = INTEGER: -7');
    expect(line).toContain('.1.3.6.1.4.1.8072.9.3 = Counter64: 9007199254740993');
    expect(line).toContain('.1.3.6.1.4.1.8072.9.4 = Timeticks: (100)');
    expect(line).toContain('.1.3.6.1.4.1.8072.9.5 = NULL');
  });
});

describe('smtp with TLS and passwords', () => {
  type Seen = { readonly lines: string[]; isEncrypted: boolean; readonly logins: string[] };

  /**
   * A mail server that takes any password. By default it offers STARTTLS, and logins only behind
   * it.
   */
  async function mailServer({
    refusal,
    mode = 'starttls',
  }: {
    readonly refusal?: string;
    readonly mode?: 'starttls' | 'implicit' | 'plain';
  } = {}): Promise<{ port: number; seen: Seen; close: () => void }> {
    const pem = readFileSync(new URL('../../tsdb/src/testdata/localhost.pem', import.meta.url));
    const seen: Seen = { lines: [], isEncrypted: false, logins: [] };
    const speak = (socket: net.Socket, onTls: () => void): void => {
      let isData = false;
      let rest = '';
      const answer = (line: string): string | undefined => {
        if (isData) {
          if (line !== '.') return undefined;
          isData = false;
          return '250 taken';
        }
        if (line.startsWith('EHLO')) {
          const offers = seen.isEncrypted || mode === 'plain' ? 'AUTH PLAIN' : 'STARTTLS';
          return `250-localhost\r\n250 ${offers}`;
        }
        if (line.startsWith('AUTH PLAIN ')) {
          seen.logins.push(Buffer.from(line.slice(11), 'base64').toString());
          return '235 welcome';
        }
        if (line.startsWith('RCPT') && refusal !== undefined) return refusal;
        if (line !== 'DATA') return '250 ok';
        isData = true;
        return '354 go on';
      };
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        const parts = (rest + chunk.toString()).split('\r\n');
        rest = parts.pop() ?? '';
        for (const line of parts) {
          seen.lines.push(line);
          if (line === 'STARTTLS' && mode === 'plain') {
            socket.write('502 not here\r\n');
            continue;
          }
          if (line === 'STARTTLS') {
            socket.write('220 now\r\n', onTls);
            return;
          }
          if (line === 'QUIT') return void socket.end('221 bye\r\n');
          const text = answer(line);
          if (text !== undefined) socket.write(`${text}\r\n`);
        }
      });
    };
    const server = net.createServer((socket) => {
      if (mode === 'implicit') {
        const secure = new TLSSocket(socket, { isServer: true, cert: pem, key: pem });
        secure.on('secure', () => {
          seen.isEncrypted = true;
          secure.write('220 localhost\r\n');
        });
        speak(secure, () => undefined);
        return;
      }
      socket.write('220 localhost\r\n');
      speak(socket, () => {
        socket.removeAllListeners('data');
        const secure = new TLSSocket(socket, { isServer: true, cert: pem, key: pem });
        seen.isEncrypted = true;
        speak(secure, () => undefined);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { port: (server.address() as AddressInfo).port, seen, close: () => server.close() };
  }

  const settings = (port: number, more: Record<string, Options[string]>) => ({
    enabled: true,
    host: '127.0.0.1',
    port,
    from: 'me@example.org',
    username: 'user',
    password: 'pass',
    ...more,
  });

  test('a connection is encrypted when the server offers it, and the password goes through it only', async () => {
    const mail = await mailServer();
    await send('smtp', { to: ['you@example.org'] }, settings(mail.port, { 'no-verify': true }));
    mail.close();

    expect(mail.seen.isEncrypted).toBe(true);
    expect(mail.seen.logins).toEqual(['\u0000user\u0000pass']);
    expect(mail.seen.lines).toContain('Subject: too hot');
    expect(mail.seen.lines.indexOf('STARTTLS')).toBeLessThan(
      mail.seen.lines.findIndex((line) => line.startsWith('AUTH')),
    );
  });

  test.each<[string, 'starttls' | 'implicit' | 'plain', string, Partial<Seen>]>([
    ['is encrypted from the start', 'implicit', 'implicit', { isEncrypted: true }],
    ['is encrypted by demand', 'starttls', 'starttls', { isEncrypted: true }],
    ['to this machine is plain when nothing else is offered', 'plain', '', { isEncrypted: false }],
    ['is plain when encryption is turned off', 'plain', 'off', { isEncrypted: false }],
  ])('a connection %s', async (_what, mode, tls, expected) => {
    const mail = await mailServer({ mode });
    const more = { 'no-verify': true, tls };
    await send('smtp', { to: ['you@example.org'] }, settings(mail.port, more));
    mail.close();

    expect(mail.seen).toMatchObject({ ...expected, logins: ['\u0000user\u0000pass'] });
    expect(mail.seen.lines).toContain('Subject: too hot');
  });

  test('no mail and no password goes to a server that does not offer the encryption that is demanded', async () => {
    const mail = await mailServer({ mode: 'plain' });
    const sent = send(
      'smtp',
      { to: ['you@example.org'] },
      settings(mail.port, { tls: 'starttls' }),
    );

    await expect(sent).rejects.toThrow(/502 not here|STARTTLS/);
    mail.close();
    expect(mail.seen.logins).toEqual([]);
  });

  test.each([
    [{ port: 465 }, { secure: true, requireTLS: false, ignoreTLS: false }],
    [
      { port: 465, tls: 'starttls' },
      { secure: false, requireTLS: true, ignoreTLS: false },
    ],
    [{ host: 'mail.example' }, { secure: false, requireTLS: true, ignoreTLS: false }],
    [
      { host: 'mail.example', username: '' },
      { secure: false, requireTLS: false, ignoreTLS: false },
    ],
    [
      { host: 'mail.example', tls: 'off' },
      { secure: false, requireTLS: false, ignoreTLS: true },
    ],
  ])('with %j the transport is told %j', (more, expected) => {
    expect(tlsModeOf({ ...settings(25, {}), tls: '', ...more })).toEqual(expected);
  });

  test('a certificate that nobody vouches for ends it before the password is sent', async () => {
    const mail = await mailServer();
    const sent = send('smtp', { to: ['you@example.org'] }, settings(mail.port, {}));

    await expect(sent).rejects.toThrow(/certificate/);
    mail.close();
    expect(mail.seen.logins).toEqual([]);
  });

  test.each([
    ['550 no such user', InvalidRequest],
    ['450 come back later', Unavailable],
  ])('a refusal %s is told apart from a delay', async (answer, kind) => {
    const mail = await mailServer({ refusal: answer });
    const sent = send(
      'smtp',
      { to: ['you@example.org'] },
      settings(mail.port, { 'no-verify': true }),
    );

    await expect(sent).rejects.toThrow(kind);
    mail.close();
  });
});
