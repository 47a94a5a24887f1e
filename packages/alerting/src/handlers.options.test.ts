// Every option of every kind that sends over HTTP or TCP, and every option of its section that is
// part of a request: the exact request. A new option without a row here fails the last test.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@tidemark/core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { decodeOptions, httpSender } from '@tidemark/settings';
import type { OptionValue } from '@tidemark/settings';
import { optionsGiven, sectionsOf, TestServer } from '@tidemark/testkit';
import { connectionCache } from './connection-cache.ts';
import type { TopicEvent } from './event.ts';
import { printDataJson, printEventJson } from './event.ts';
import { findHandlerKind, HANDLER_KINDS } from './registry.ts';
import { handlerContext } from './testing/handler-context.ts';

type Given = Readonly<Record<string, OptionValue>>;
type Seen = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
};
type Row = {
  readonly kind: string;
  readonly options: Given;
  readonly section: Given;
  readonly event?: Partial<TopicEvent>;
  readonly status?: number;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
};

const EVENT: TopicEvent = {
  id: 'id1',
  message: 'too hot',
  details: '<b>hot</b>',
  time: 1_704_067_200_000_000_000n,
  durationNanos: 60_000_000_000n,
  level: 'CRITICAL',
  previousLevel: 'OK',
  isRecoverable: true,
  data: [{ name: 'cpu', tags: { host: 'a' }, columns: ['time', 'v'], values: [[0n, 1.5]] }],
  topic: 't',
  hops: 0,
  context: {
    name: 'cpu',
    taskName: 'watch',
    group: 'host=a',
    category: 'c',
    tags: { host: 'a' },
    fields: { v: 1.5 },
  },
};
const DATA = printDataJson(EVENT.data);

let base = '';
let status = 200;
let seen: Seen[] = [];
const server = new TestServer(({ path, headers, body }) => {
  seen.push({ path, headers, body: body.startsWith('{') ? JSON.parse(body) : body });
  return { status, body: 'answer' };
});
let directory = '';
const sender = httpSender();
const connections = connectionCache(systemClock());

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'handler-options-'));
  await server.open();
  base = server.url;
});

afterEach(() => {
  seen = [];
});

afterAll(async () => {
  await connections.close();
  await sender.close();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

async function send(
  kindName: string,
  options: Given,
  section: Given,
  event = EVENT,
): Promise<void> {
  const kind = findHandlerKind(kindName);
  if (kind === undefined || !('send' in kind)) throw new Error(`no kind ${kindName}`);
  const elements = optionsGiven(kind.section?.options ?? {}, { enabled: true, ...section });
  const invalid = kind.section?.validate?.(elements);
  if (invalid !== undefined) throw new Error(invalid);
  const context = handlerContext({
    section: sectionsOf({ [kind.section?.name ?? '']: [elements] }).section,
    http: sender,
    connections,
  });
  const decoded = decodeOptions(kind.options, kind.kind, options);
  if (!decoded.ok) throw new Error(decoded.reason);
  const problem = kind.validate?.(decoded.options, context);
  if (problem !== undefined) throw new Error(problem);
  await kind.send(event, decoded.options, context);
}

const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`;

/** `BASE` stands for the address of the service. */
const ROWS: readonly Row[] = [
  {
    kind: 'alerta',
    options: {
      token: 'own',
      'token-prefix': 'Key',
      resource: '{{ .Name }}!',
      event: 'e {{ .ID }}',
      environment: '{{ .Level }}',
      group: 'g {{ .Group }}',
      value: '{{ .TaskName }}',
      origin: 'me',
      service: ['s {{ .Name }}'],
      correlate: ['c {{ .Name }}'],
      attributes: { text: '{{ .ID }}', number: 7 },
      timeout: '90s',
    },
    section: { url: 'BASE/', token: 'configured', environment: 'x', origin: 'y' },
    status: 201,
    path: '/alert',
    headers: { authorization: 'Key own' },
    body: {
      resource: 'cpu!',
      event: 'e id1',
      environment: 'CRITICAL',
      severity: 'critical',
      group: 'g host=a',
      value: 'watch',
      text: 'too hot',
      origin: 'me',
      rawData: DATA,
      service: ['s cpu'],
      correlate: ['c cpu'],
      attributes: { text: 'id1', number: 7 },
      timeout: 90,
      tags: ['host=a'],
    },
  },
  {
    kind: 'alerta',
    options: {},
    section: {
      url: 'BASE',
      token: 't',
      'token-prefix': 'Configured',
      environment: 'prod',
      origin: 'o',
      timeout: 3_600_000_000_000n,
    },
    event: { level: 'WARNING' },
    status: 201,
    path: '/alert',
    headers: { authorization: 'Configured t' },
    body: {
      resource: 'cpu',
      event: 'id1',
      environment: 'prod',
      severity: 'warning',
      group: 'host=a',
      value: '',
      text: 'too hot',
      origin: 'o',
      rawData: DATA,
      service: ['cpu'],
      correlate: ['cpu'],
      attributes: {},
      timeout: 3600,
      tags: ['host=a'],
    },
  },
  {
    kind: 'bigpanda',
    options: {
      'app-key': 'own',
      url: 'BASE/own',
      host: '{{ .Name }}',
      'primary-property': 'p',
      'secondary-property': 's',
      attributes: { a: '{{ .ID }}' },
    },
    section: { url: 'BASE', token: 't', 'app-key': 'k', 'auto-attributes': 'tags' },
    status: 201,
    path: '/own',
    headers: { authorization: 'Bearer t' },
    body: {
      description: 'too hot',
      details: '<b>hot</b>',
      check: 'id1',
      task: 'watch:cpu',
      timestamp: 1_704_067_200,
      status: 'critical',
      app_key: 'own',
      primary_property: 'p',
      secondary_property: 's',
      host: 'cpu',
      a: 'id1',
    },
  },
  {
    kind: 'chat',
    options: { workspace: 'w', channel: '#c', username: 'u', 'icon-emoji': ':x:' },
    section: { workspace: 'w', url: 'BASE', channel: '#other', username: 'v', 'icon-emoji': ':y:' },
    event: { level: 'WARNING' },
    body: {
      channel: '#c',
      text: '',
      attachments: [
        { fallback: 'too hot', color: 'warning', text: 'too hot', mrkdwn_in: ['text'] },
      ],
      username: 'u',
      icon_emoji: ':x:',
    },
  },
  {
    kind: 'discord',
    options: {
      workspace: 'w',
      username: 'u',
      'avatar-url': 'http://a',
      'embed-title': '{{ .ID }}',
    },
    section: { workspace: 'w', url: 'BASE', username: 'v', 'avatar-url': 'b', timestamp: false },
    event: { level: 'WARNING' },
    status: 204,
    body: {
      username: 'u',
      avatar_url: 'http://a',
      embeds: [{ description: 'too hot', color: 0xf48d38, title: 'id1' }],
    },
  },
  {
    kind: 'hipchat',
    options: { room: 'r', token: 'own' },
    section: { url: 'BASE/room', token: 't', room: 'other' },
    event: { level: 'WARNING' },
    status: 204,
    path: '/room/r/notification?auth_token=own',
    body: { from: 'kapacitor', color: 'yellow', message: 'too hot', notify: true },
  },
  {
    kind: 'opsgenie',
    options: { 'teams-list': ['a'], 'recipients-list': ['b'] },
    section: { 'api-key': 'k', url: 'BASE/v1', recovery_url: 'BASE/note', recipients: ['x'] },
    path: '/v1/',
    body: {
      apiKey: 'k',
      entity: 'id1',
      alias: 'id1',
      message: 'too hot',
      note: '',
      monitoring_tool: 'kapacitor',
      details: { Level: 'CRITICAL', 'Monitoring Tool': 'Kapacitor' },
      description: DATA,
      teams: ['a'],
      recipients: ['b'],
    },
  },
  {
    kind: 'opsgenie2',
    options: { 'teams-list': ['a'], 'recipients-list': ['b'], details: true },
    section: { 'api-key': 'k', url: 'BASE/v2', teams: ['x'] },
    event: { level: 'WARNING' },
    status: 202,
    path: '/v2',
    headers: { authorization: 'GenieKey k' },
    body: {
      entity: 'id1',
      alias: Buffer.from('id1').toString('base64url'),
      message: 'too hot',
      note: '',
      priority: 'P3',
      description: DATA,
      details: { host: 'a', 'Monitoring Tool': 'Kapacitor', Level: 'WARNING' },
      responders: [
        { name: 'a', type: 'team' },
        { username: 'b', type: 'user' },
      ],
    },
  },
  {
    kind: 'opsgenie2',
    options: { recovery_action: 'close' },
    section: { 'api-key': 'k', url: 'BASE/v2', recovery_action: 'notes', recipients: ['x'] },
    event: { level: 'OK' },
    status: 202,
    path: `/v2/${Buffer.from('id1').toString('base64url')}/close?identifierType=alias`,
    body: { note: 'too hot' },
  },
  {
    kind: 'pagerduty',
    options: { 'service-key': 'own' },
    section: { url: 'BASE', 'service-key': 'k' },
    body: {
      service_key: 'own',
      event_type: 'trigger',
      description: 'too hot',
      incident_key: 'id1',
      client: 'kapacitor',
      client_url: 'http://h:9092',
      details: '<b>hot</b>',
    },
  },
  {
    kind: 'pagerduty2',
    options: {
      'routing-key': 'own',
      links: [{ href: 'http://x/{{ .ID }}', text: '{{ .Name }}' }, { href: 'http://y' }],
    },
    section: { url: 'BASE', 'routing-key': 'k' },
    event: { level: 'WARNING' },
    status: 202,
    headers: { accept: 'application/vnd.pagerduty+json;version=2' },
    body: {
      routing_key: 'own',
      event_action: 'trigger',
      dedup_key: 'id1',
      client: 'kapacitor',
      client_url: 'http://h:9092',
      links: [
        { href: 'http://x/id1', text: 'cpu' },
        { href: 'http://y', text: 'http://y' },
      ],
      payload: {
        summary: 'too hot',
        source: 'a',
        severity: 'warning',
        timestamp: '2024-01-01T00:00:00.000000000Z',
        class: 'watch',
        custom_details: { result: JSON.parse(DATA) as unknown },
      },
    },
  },
  {
    kind: 'post',
    options: {
      url: 'BASE/{{ .ID }}',
      endpoint: 'e',
      headers: { 'X-Own': '1' },
      timeout: '5s',
      'capture-response': true,
      'skip-ssl-verification': true,
    },
    section: {
      endpoint: 'e',
      url: 'BASE/unused',
      headers: { 'X-Theirs': '2' },
      'basic-auth': { username: 'u', password: 'p' },
      'alert-template-file': 'DIRECTORY/alert.tmpl',
    },
    status: 201,
    path: '/id1',
    headers: { 'x-own': '1', 'x-theirs': '2', authorization: basic('u:p') },
    body: 'from a file: too hot',
  },
  {
    kind: 'pushover',
    options: {
      'user-key': 'own',
      device: 'd',
      title: 't',
      url: 'http://l',
      'url-title': 'l',
      sound: 's',
    },
    section: { url: 'BASE', token: 't', 'user-key': 'k' },
    event: { level: 'WARNING' },
    body: 'token=t&user=own&message=too+hot&priority=0&device=d&title=t&url=http%3A%2F%2Fl&url_title=l&sound=s',
  },
  {
    kind: 'servicenow',
    options: {
      url: 'BASE/own',
      username: 'own',
      password: 'secret',
      source: 'src',
      node: 'n {{ .Name }}',
      type: 't {{ .ID }}',
      resource: 'r {{ .TaskName }}',
      metric_name: 'm {{ .Name }}',
      message_key: 'k {{ .ID }}',
      additional_info: { a: '{{ .Level }}' },
    },
    section: { url: 'BASE', source: 'me', username: 'u', password: 'p' },
    event: { level: 'WARNING' },
    path: '/own',
    headers: { authorization: basic('own:secret') },
    body: {
      records: [
        {
          source: 'src',
          node: 'n cpu',
          type: 't id1',
          resource: 'r watch',
          metric_name: 'm cpu',
          message_key: 'k id1',
          severity: '4',
          description: 'too hot',
          additional_info: '{"a":"WARNING"}',
        },
      ],
    },
  },
  {
    kind: 'talk',
    options: {},
    section: { url: 'BASE/talk', author_name: 'me' },
    path: '/talk',
    body: { title: 'id1', text: 'too hot', authorName: 'me' },
  },
  {
    kind: 'teams',
    options: { 'channel-url': 'BASE/own' },
    section: { 'channel-url': 'BASE' },
    event: { level: 'WARNING', message: 'm'.repeat(80) },
    path: '/own',
    body: {
      '@type': 'MessageCard',
      '@context': 'http://schema.org/extensions',
      title: 'WARNING: [id1]',
      text: 'm'.repeat(80),
      summary: `${`WARNING: [id1] - ${'m'.repeat(80)}`.slice(0, 70)}...`,
      themeColor: 'FFA533',
    },
  },
  {
    kind: 'telegram',
    options: {
      'chat-id': 'own',
      'parse-mode': 'Markdown',
      'disable-web-page-preview': true,
      'disable-notification': true,
    },
    section: { url: 'BASE/bot', token: 'T', 'chat-id': 'c', 'parse-mode': 'HTML' },
    path: '/botT/sendMessage',
    body: {
      chat_id: 'own',
      text: 'too hot',
      parse_mode: 'Markdown',
      disable_web_page_preview: true,
      disable_notification: true,
    },
  },
  {
    kind: 'victorops',
    options: { 'routing-key': 'own' },
    section: { url: 'BASE/', 'api-key': 'k', 'routing-key': 'r', 'json-data': true },
    event: { level: 'OK' },
    path: '/k/own',
    body: {
      message_type: 'RECOVERY',
      entity_id: 'id1',
      state_message: 'too hot',
      timestamp: 1_704_067_200,
      monitoring_tool: 'kapacitor',
      data: JSON.parse(DATA) as unknown,
    },
  },
  {
    kind: 'zenoss',
    options: {
      action: 'a',
      method: 'm',
      type: 't',
      tid: 7,
      summary: 's {{ .ID }}',
      device: 'd {{ .Name }}',
      component: 'c {{ .Name }}',
      eventclasskey: 'k {{ .Name }}',
      eventclass: 'e {{ .Name }}',
      message: 'm {{ .Message }}',
      collector: 'o {{ .Name }}',
      custom_fields: { text: '{{ .Level }}', number: 3 },
    },
    section: { url: 'BASE', username: 'u', password: 'p', 'severity-map': { Warning: 'Odd' } },
    event: { level: 'WARNING' },
    headers: { authorization: basic('u:p') },
    body: {
      action: 'a',
      method: 'm',
      data: [
        {
          text: 'WARNING',
          number: 3,
          summary: 's id1',
          device: 'd cpu',
          component: 'c cpu',
          evclasskey: 'k cpu',
          evclass: 'e cpu',
          message: 'm too hot',
          collector: 'o cpu',
          severity: 'Odd',
        },
      ],
      type: 't',
      tid: 7,
    },
  },
];

describe('with every option set', () => {
  test.each(ROWS.map((row, i) => [`${row.kind} ${i}`, row] as const))(
    '%s sends',
    async (_name, row) => {
      writeFileSync(join(directory, 'alert.tmpl'), 'from a file: {{ .Message }}');
      const fill = <T>(value: T): T =>
        typeof value === 'string'
          ? (value.replace('BASE', base).replace('DIRECTORY', directory) as T & string)
          : value;
      const filled = (given: Given): Given =>
        Object.fromEntries(Object.entries(given).map(([name, value]) => [name, fill(value)]));
      status = row.status ?? 200;

      await send(row.kind, filled(row.options), filled(row.section), { ...EVENT, ...row.event });

      expect(seen).toHaveLength(1);
      expect(seen[0]?.path).toBe(row.path ?? '/');
      expect(seen[0]?.headers).toMatchObject(row.headers ?? {});
      expect(seen[0]?.body).toEqual(row.body);
    },
  );

  test('sensu sends source, handlers and metadata', async () => {
    const received: string[] = [];
    const socketServer = net.createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('data', (chunk: Buffer) => received.push(chunk.toString()));
      socket.on('end', () => socket.end('ok'));
    });
    await new Promise<void>((resolve) => socketServer.listen(0, '127.0.0.1', resolve));
    const addr = `127.0.0.1:${(socketServer.address() as AddressInfo).port}`;
    const options = {
      source: 's {{ .Name }}',
      handlers: ['h'],
      metadata: { team: 'ops', ttl: 60 },
    };

    await send('sensu', options, { addr, source: 'x', handlers: ['y'] });
    socketServer.close();

    expect(JSON.parse(received.join(''))).toEqual({
      team: 'ops',
      ttl: 60,
      name: 'id1',
      source: 's cpu',
      output: 'too hot',
      status: 2,
      handlers: ['h'],
    });
  });

  test('post trusts any certificate only when it is told to', async () => {
    const pem = readFileSync(new URL('../../tsdb/src/testdata/localhost.pem', import.meta.url));
    const bodies: string[] = [];
    const secure = https.createServer({ cert: pem, key: pem }, (request, response) => {
      request.on('data', (chunk: Buffer) => bodies.push(chunk.toString()));
      request.on('end', () => response.end());
    });
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;

    await expect(send('post', { url }, {})).rejects.toThrow(/certificate/);
    expect(bodies).toEqual([]);
    await send('post', { url, 'skip-ssl-verification': true }, {});
    secure.closeAllConnections();
    secure.close();

    expect(bodies.join('')).toBe(`${printEventJson(EVENT)}\n`);
  });

  test('post shows what was answered only when it is told to', async () => {
    status = 418;

    await expect(send('post', { url: base }, {})).rejects.toThrow(/code: 418$/);
    await expect(send('post', { url: base, 'capture-response': true }, {})).rejects.toThrow(
      /code: 418: answer$/,
    );
  });

  test('a file of a template that cannot be read is refused', async () => {
    const section = { 'alert-template-file': join(directory, 'nowhere') };

    await expect(send('post', { endpoint: 'e' }, section)).rejects.toThrow(
      /cannot read alert-template-file/,
    );
  });
});

test('no option of a kind is left out', () => {
  // Chains and topics: engine and delivery tests. Servers of their own: handlers.servers.test.ts.
  // Files and programs, and the rest of sensu and tcp: handlers.test.ts.
  const elsewhere = new Set(
    'aggregate publish stateChangesOnly throttle kafka mqtt smtp snmptrap exec log tcp sensu'.split(
      ' ',
    ),
  );
  for (const { kind, options } of HANDLER_KINDS) {
    if (elsewhere.has(kind)) continue;
    const used = new Set(
      ROWS.filter((row) => row.kind === kind).flatMap((row) => Object.keys(row.options)),
    );
    expect([...used].sort(), kind).toEqual(Object.keys(options).sort());
  }
});
