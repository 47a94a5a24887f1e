// The requests of each kind of handler, checked at the other end of a real socket.
import { createSocket } from 'node:dgram';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@tidemark/core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decodeOptions, httpSender } from '@tidemark/settings';
import type { Options } from '@tidemark/settings';
import { sectionsOf, TestServer } from '@tidemark/testkit';
import type { ReceivedRequest } from '@tidemark/testkit';
import { connectionCache } from './connection-cache.ts';
import type { TopicEvent } from './event.ts';
import { printEventJson } from './event.ts';
import type { HandlerContext } from './handler.ts';
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
  data: [
    {
      name: 'cpu',
      tags: { host: 'a' },
      columns: ['time', 'v', 's'],
      values: [[1_704_067_200_000_000_005n, 9_007_199_254_740_993n, 'x<y']],
    },
  ],
  topic: 'top',
  hops: 0,
  context: {
    name: 'cpu',
    taskName: 'watch',
    group: 'host=a',
    category: '',
    tags: { host: 'a' },
    fields: { v: 5n, s: 'x' },
  },
};

const DATA =
  '{"series":[{"name":"cpu","tags":{"host":"a"},"columns":["time","v","s"],"values":[["2024-01-01T00:00:00.000000005Z",9007199254740993,"x<y"]]}]}';

let server: TestServer;
let base: string;
let seen: readonly ReceivedRequest[];
let answer: { status: number; body: string };
let sections: Record<string, readonly Options[]>;
let directory: string;
const sender = httpSender();
const connections = connectionCache(systemClock());

beforeEach(async () => {
  sections = {};
  answer = { status: 200, body: '' };
  directory = mkdtempSync(join(tmpdir(), 'handlers-'));
  server = new TestServer(() => answer);
  await server.open();
  base = server.url;
  seen = server.requests;
});

afterEach(async () => {
  await connections.close();
  await sender.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

function context(): HandlerContext {
  return handlerContext({ section: sectionsOf(sections).section, http: sender, connections });
}

async function send(
  kindName: string,
  given: Record<string, unknown>,
  section?: Record<string, Options[string]>,
  event: TopicEvent = EVENT,
): Promise<void> {
  const kind = findHandlerKind(kindName);
  if (kind === undefined || !('send' in kind)) throw new Error(`no kind ${kindName}`);
  if (kind.section !== undefined) {
    sections[kind.section.name] = [section ?? {}];
  }
  const decoded = decodeOptions(kind.options, kind.kind, given);
  if (!decoded.ok) throw new Error(decoded.reason);
  const problem = kind.validate?.(decoded.options, context());
  if (problem !== undefined) throw new Error(problem);
  await kind.send(event, decoded.options, context());
}

function only(): ReceivedRequest & { json: any } {
  const [request] = seen;
  if (request === undefined || seen.length > 1) throw new Error(`saw ${seen.length} requests`);
  let json: unknown;
  try {
    json = JSON.parse(request.body);
  } catch {
    // A form or a template.
  }
  return { ...request, json };
}

describe('handlers over HTTP', () => {
  test('post sends the event as one line of JSON with all digits', async () => {
    await send('post', { url: `${base}/x`, headers: { 'X-Key': 'v' } });

    const { method, path, headers, body } = only();
    expect({ method, path }).toEqual({ method: 'POST', path: '/x' });
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-key': 'v' });
    expect(body).toBe(`${printEventJson(EVENT)}\n`);
    expect(body).toContain(`"data":${DATA}`);
  });

  test('post to a named endpoint adds its headers, credentials and template', async () => {
    await send(
      'post',
      { endpoint: 'e', headers: { b: 'own' } },
      {
        endpoint: 'e',
        url: `${base}/named`,
        headers: { a: '1', b: 'theirs' },
        'basic-auth': { username: 'u', password: 'p' },
        'alert-template': '{{ .ID }} is {{ .Level }}',
      },
    );

    const { path, headers, body } = only();
    expect(path).toBe('/named');
    expect(headers).toMatchObject({ a: '1', b: 'own', authorization: 'Basic dTpw' });
    expect(body).toBe('cpu:host=a is CRITICAL');
  });

  test.each([
    [500, 'Unavailable'],
    [429, 'Unavailable'],
    [400, 'InvalidRequest'],
    [301, 'InvalidRequest'],
  ])('post answered with %i fails as %s', async (status, name) => {
    answer = { status, body: 'no' };

    await expect(send('post', { url: base })).rejects.toMatchObject({ name });
  });

  test('chat sends an attachment with the color of the level', async () => {
    await send('slack', { channel: '#ops' }, { enabled: true, url: `${base}/hook`, token: 't' });

    const { json, headers } = only();
    expect(headers.authorization).toBe('Bearer t');
    expect(json).toEqual({
      channel: '#ops',
      text: '',
      attachments: [{ fallback: 'too hot', color: 'danger', text: 'too hot', mrkdwn_in: ['text'] }],
      username: 'kapacitor',
      icon_emoji: '',
    });
  });

  test('a disabled service sends nothing and says so', async () => {
    await expect(send('chat', {}, { url: base })).rejects.toThrow('service is not enabled');
    expect(seen).toEqual([]);
  });

  test('alerta', async () => {
    answer = { status: 201, body: '' };
    await send(
      'alerta',
      { environment: 'prod', attributes: { a: '{{ .Level }}' } },
      { enabled: true, url: base, token: 't' },
    );

    const { path, json, headers } = only();
    expect(path).toBe('/alert');
    expect(headers.authorization).toBe('Bearer t');
    expect(json).toMatchObject({
      resource: 'cpu',
      event: 'cpu:host=a',
      environment: 'prod',
      severity: 'critical',
      group: 'host=a',
      text: 'too hot',
      service: ['cpu'],
      correlate: ['cpu'],
      attributes: { a: 'CRITICAL' },
      timeout: 86_400,
      tags: ['host=a'],
      rawData: DATA,
    });
  });

  test('bigpanda', async () => {
    answer = { status: 201, body: '' };
    await send(
      'bigpanda',
      { host: '{{ .Name }}' },
      {
        enabled: true,
        url: base,
        token: 't',
        'app-key': 'k',
      },
    );

    expect(only().json).toEqual({
      host: 'cpu',
      v: '5',
      s: 'x',
      description: 'too hot',
      details: '<b>hot</b>',
      check: 'cpu:host=a',
      task: 'watch:cpu',
      timestamp: 1_704_067_200,
      status: 'critical',
      app_key: 'k',
    });
  });

  test('discord', async () => {
    answer = { status: 204, body: '' };
    await send(
      'discord',
      { 'embed-title': '{{ .ID }}' },
      {
        enabled: true,
        url: base,
        timestamp: true,
        username: 'u',
      },
    );

    expect(only().json).toEqual({
      username: 'u',
      avatar_url: '',
      embeds: [
        {
          description: 'too hot',
          color: 0xf95f53,
          title: 'cpu:host=a',
          timestamp: '2024-01-01T00:00:00.000000005Z',
        },
      ],
    });
  });

  test('hipchat', async () => {
    await send(
      'hipchat',
      { room: 'my room' },
      { enabled: true, url: `${base}/v2/room`, token: 't' },
    );

    const { path, json } = only();
    expect(path).toBe('/v2/room/my%20room/notification?auth_token=t');
    expect(json).toEqual({ from: 'kapacitor', color: 'red', message: 'too hot', notify: true });
  });

  test('opsgenie sends recoveries to their own address', async () => {
    const section = {
      enabled: true,
      url: `${base}/alert`,
      recovery_url: `${base}/note`,
      'api-key': 'k',
      teams: ['a'],
    };
    await send('opsgenie', { 'teams-list': ['b'] }, section);
    await send('opsgenie', {}, section, { ...EVENT, level: 'OK' });

    expect(seen.map(({ path }) => path)).toEqual(['/alert/', '/note/']);
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      apiKey: 'k',
      entity: 'cpu:host=a',
      alias: 'cpu:host=a',
      teams: ['b'],
      details: { Level: 'CRITICAL' },
    });
    expect(JSON.parse(seen[1]?.body ?? '')).toMatchObject({
      teams: ['a'],
      details: { Level: 'RECOVERY' },
    });
  });

  test('opsgenie2 alerts with priority and closes by alias', async () => {
    answer = { status: 202, body: '' };
    const section = { enabled: true, url: base, 'api-key': 'k' };
    await send('opsgenie2', { 'recipients-list': ['me'] }, section);
    await send('opsgenie2', { recovery_action: 'close' }, section, { ...EVENT, level: 'OK' });

    const alias = Buffer.from('cpu:host=a').toString('base64url');
    expect(seen[0]?.headers.authorization).toBe('GenieKey k');
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      alias,
      priority: 'P1',
      responders: [{ username: 'me', type: 'user' }],
    });
    expect(seen[1]?.path).toBe(`/${alias}/close?identifierType=alias`);
    expect(JSON.parse(seen[1]?.body ?? '')).toEqual({ note: 'too hot' });
  });

  test('pagerduty triggers and resolves, and does not know INFO', async () => {
    const section = { enabled: true, url: base, 'service-key': 'k' };
    await send('pagerduty', {}, section);
    await send('pagerduty', {}, section, { ...EVENT, level: 'OK' });

    expect(seen.map(({ body }) => JSON.parse(body).event_type)).toEqual(['trigger', 'resolve']);
    await expect(send('pagerduty', {}, section, { ...EVENT, level: 'INFO' })).rejects.toThrow(
      'currently ignored',
    );
  });

  test('pagerduty2', async () => {
    answer = { status: 202, body: '' };
    await send(
      'pagerduty2',
      { links: [{ href: 'http://x/{{ .ID }}', text: 'look' }] },
      { enabled: true, url: base, 'routing-key': 'k' },
    );

    expect(only().json).toMatchObject({
      routing_key: 'k',
      event_action: 'trigger',
      dedup_key: 'cpu:host=a',
      links: [{ href: 'http://x/cpu:host=a', text: 'look' }],
      payload: {
        summary: 'too hot',
        source: 'a',
        severity: 'critical',
        timestamp: '2024-01-01T00:00:00.000000005Z',
        class: 'watch',
      },
    });
  });

  test('pushover sends a form', async () => {
    await send(
      'pushover',
      { device: 'd', 'url-title': 't' },
      {
        enabled: true,
        url: base,
        token: 't',
        'user-key': 'u',
      },
    );

    expect(Object.fromEntries(new URLSearchParams(only().body))).toEqual({
      token: 't',
      user: 'u',
      message: 'too hot',
      priority: '1',
      device: 'd',
      url_title: 't',
    });
  });

  test('servicenow cuts what is too long', async () => {
    await send(
      'servicenow',
      { node: 'n'.repeat(200), additional_info: { a: '{{ .ID }}' } },
      {
        enabled: true,
        url: base,
        source: 'me',
        username: 'u',
        password: 'p',
      },
    );

    const { json, headers } = only();
    expect(headers.authorization).toBe('Basic dTpw');
    expect(json.records).toEqual([
      {
        source: 'me',
        node: 'n'.repeat(100),
        message_key: 'cpu:host=a',
        severity: '1',
        description: 'too hot',
        additional_info: '{"a":"cpu:host=a"}',
      },
    ]);
  });

  test('talk, teams and telegram', async () => {
    await send('talk', {}, { enabled: true, url: base, author_name: 'me' });
    await send('teams', {}, { enabled: true, 'channel-url': base });
    await send(
      'telegram',
      { 'parse-mode': 'HTML' },
      {
        enabled: true,
        url: `${base}/bot`,
        token: 'T',
        'chat-id': '1',
      },
    );

    const [talk, teams, telegram] = seen.map(({ body }) => JSON.parse(body));
    expect(talk).toEqual({ title: 'cpu:host=a', text: 'too hot', authorName: 'me' });
    expect(teams).toMatchObject({
      '@type': 'MessageCard',
      title: 'CRITICAL: [cpu:host=a]',
      summary: 'CRITICAL: [cpu:host=a] - too hot',
      themeColor: 'CC4A31',
    });
    expect(seen[2]?.path).toBe('/botT/sendMessage');
    expect(telegram).toEqual({ chat_id: '1', text: 'too hot', parse_mode: 'HTML' });
  });

  test('victorops puts keys into the address and tells a wrong one', async () => {
    const section = { enabled: true, url: base, 'api-key': 'k', 'routing-key': 'r' };
    await send('victorops', {}, section);

    const { path, json } = only();
    expect(path).toBe('/k/r');
    expect(json).toMatchObject({ message_type: 'CRITICAL', entity_id: 'cpu:host=a', data: DATA });
    answer = { status: 404, body: '' };
    await expect(send('victorops', {}, section)).rejects.toThrow('URL or API key not found: 404');
  });

  test('zenoss', async () => {
    await send(
      'zenoss',
      { device: '{{ .Name }}', custom_fields: { f: '{{ .Level }}' } },
      {
        enabled: true,
        url: base,
        username: 'u',
        password: 'p',
      },
    );

    expect(only().json).toEqual({
      action: 'EventsRouter',
      method: 'add_event',
      data: [
        {
          f: 'CRITICAL',
          summary: 'too hot',
          device: 'cpu',
          component: '',
          evclasskey: '',
          evclass: '',
          message: '',
          collector: 'Kapacitor',
          severity: 'Critical',
        },
      ],
      type: 'rpc',
      tid: 1,
    });
  });
});

describe('handlers over other ways', () => {
  /** A server that collects what one connection sends and answers it at its end. */
  async function tcpServer(reply: string): Promise<{ address: string; received: Promise<string> }> {
    let resolveReceived: (text: string) => void = () => {};
    const received = new Promise<string>((resolve) => (resolveReceived = resolve));
    const listener = net.createServer({ allowHalfOpen: true }, (socket) => {
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('end', () => {
        resolveReceived(text);
        socket.end(reply);
        listener.close();
      });
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    return { address: `127.0.0.1:${(listener.address() as AddressInfo).port}`, received };
  }

  test('tcp sends a line of JSON and an empty line', async () => {
    const { address, received } = await tcpServer('');
    await send('tcp', { address });

    expect(await received).toBe(`${printEventJson(EVENT)}\n\n`);
  });

  test('a refused connection may be repeated', async () => {
    await expect(send('tcp', { address: '127.0.0.1:1' })).rejects.toMatchObject({
      name: 'Unavailable',
    });
  });

  test('sensu takes only ok for an answer', async () => {
    const good = await tcpServer('ok');
    await send('sensu', {}, { enabled: true, addr: good.address }, { ...EVENT, id: 'cpu' });
    expect(JSON.parse(await good.received)).toEqual({
      name: 'cpu',
      source: 'Kapacitor',
      output: 'too hot',
      status: 2,
    });

    const bad = await tcpServer('invalid');
    await expect(
      send('sensu', {}, { enabled: true, addr: bad.address }, { ...EVENT, id: 'cpu' }),
    ).rejects.toThrow('sensu socket error: invalid');
  });

  test('log appends lines with the asked permissions', async () => {
    const path = join(directory, 'alerts.log');
    await send('log', { path, mode: 0o640 });
    await send('log', { path });

    expect(readFileSync(path, 'utf8')).toBe(`${printEventJson(EVENT)}\n`.repeat(2));
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  test('exec gives the event to the program and reports its output when it fails', async () => {
    const out = join(directory, 'out');
    await send('exec', { prog: '/bin/sh', args: ['-c', `cat > ${out}`] });
    expect(readFileSync(out, 'utf8')).toBe(`${printEventJson(EVENT)}\n`);

    await expect(
      send('exec', { prog: '/bin/sh', args: ['-c', 'echo broken; exit 3'] }),
    ).rejects.toThrow('/bin/sh: exit status 3: broken');
  });

  test('snmptrap sends a v2c trap with its values', async () => {
    const socket = createSocket('udp4');
    const packet = new Promise<Buffer>((resolve) => socket.once('message', resolve));
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    await send(
      'snmptrap',
      {
        'trap-oid': '1.3.6.1.4.1.1',
        'data-list': [
          { oid: '1.3.6.1.4.1.1.1', type: 's', value: '{{ .Message }}' },
          { oid: '1.3.6.1.4.1.1.2', type: 'i', value: '7' },
        ],
      },
      { enabled: true, addr: `127.0.0.1:${socket.address().port}`, community: 'secret' },
    );

    const bytes = (await packet).toString('latin1');
    socket.close();
    expect(bytes).toContain('secret');
    expect(bytes).toContain('too hot');
  });

  test('smtp sends subject, HTML body and recipients to a mail server', async () => {
    const mail = await mailServer();
    await send(
      'smtp',
      { to: ['you@example.org'] },
      {
        enabled: true,
        host: '127.0.0.1',
        port: mail.port,
        from: 'me@example.org',
      },
    );
    await connections.close();

    const lines = await mail.conversation;
    expect(lines).toContain('MAIL FROM:<me@example.org>');
    expect(lines).toContain('RCPT TO:<you@example.org>');
    expect(lines).toContain('Subject: too hot');
    expect(lines.join('\n')).toContain('<b>hot</b>');
  });

  test('a mail without recipients is refused', async () => {
    await expect(
      send('smtp', {}, { enabled: true, host: '127.0.0.1', port: 1, from: 'me@example.org' }),
    ).rejects.toThrow('no recipients');
  });
});

/** Speaks as much SMTP as a client needs for one mail. */
async function mailServer(): Promise<{ port: number; conversation: Promise<string[]> }> {
  let finish: (lines: string[]) => void = () => {};
  const conversation = new Promise<string[]>((resolve) => (finish = resolve));
  const listener = net.createServer((socket) => {
    const lines: string[] = [];
    let isData = false;
    let rest = '';
    socket.write('220 test\r\n');
    socket.on('data', (chunk) => {
      const parts = (rest + chunk.toString()).split('\r\n');
      rest = parts.pop() ?? '';
      for (const line of parts) {
        lines.push(line);
        if (isData) {
          isData = line !== '.';
          if (!isData) socket.write('250 taken\r\n');
        } else if (line === 'DATA') {
          isData = true;
          socket.write('354 go on\r\n');
        } else if (line === 'QUIT') socket.end('221 bye\r\n');
        else socket.write('250 ok\r\n');
      }
    });
    socket.on('close', () => {
      finish(lines);
      listener.close();
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return { port: (listener.address() as AddressInfo).port, conversation };
}
