// Secrets of the configuration: nothing that the engine shows or stores in plain text contains one,
// even when services echo them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVERYTHING_ALLOWED, TestServer } from '@tidemark/testkit';
import type { ReceivedRequest, ServerAnswer } from '@tidemark/testkit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { resolveEngineConfig } from '../config/config.ts';
import { startEngine } from '../start-engine.ts';
import type { EngineService } from '../engine-service.ts';

const SECRETS: string[] = [];
/** A secret that no other text contains. */
function secret(name: string): string {
  const value = `hush-${name}-7Zq+`;
  if (!SECRETS.includes(value)) SECRETS.push(value);
  return value;
}

let directory = '';
let engine: EngineService;
let lines: string[] = [];
let requests: string[] = [];
let status = 400;
let receiver: TestServer;
let receiverUrl = '';

/** Answers every request with what it was sent, as careless services do. */
function echo({ path, headers, body }: ReceivedRequest): ServerAnswer {
  const all = JSON.stringify({ url: path, headers, body });
  requests.push(all);
  return {
    status,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ error: `cannot understand ${all}` }),
  };
}

beforeEach(async () => {
  lines = [];
  requests = [];
  status = 400;
  receiver = new TestServer(echo);
  await receiver.open();
  receiverUrl = receiver.url;
  directory = mkdtempSync(join(tmpdir(), 'engine-secrets-'));
  writeFileSync(join(directory, 'telegram'), `${secret('telegram')}\n`);
  const keep = (fields: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const { config, problems } = resolveEngineConfig([
    {
      source: 'test',
      values: { data_dir: join(directory, 'data'), alert: EVERYTHING_ALLOWED, ...settings() },
    },
  ]);
  expect(problems).toEqual([]);
  engine = await startEngine(config, {
    log: { debug: keep, info: keep, warn: keep, error: keep },
    environment: {
      CHAT_URL: `${receiverUrl}/${secret('chat-url')}`,
      TEAMS_URL: `${receiverUrl}/${secret('teams-by-reference')}`,
      NAMED_AUTH: `Bearer ${secret('named-by-reference')}`,
    },
  });
});

afterEach(async () => {
  await engine.close();
  await receiver.close();
  rmSync(directory, { recursive: true, force: true });
});

function settings(): Record<string, unknown> {
  const enabled = true;
  const url = receiverUrl;
  return {
    stats: { enabled: false },
    task: { hosts: '0' },
    logging: { level: 'debug' },
    http: { 'bind-address': '127.0.0.1:0', 'log-enabled': true, 'shared-secret': secret('shared') },
    chat: [{ enabled, default: true, workspace: 'w', url: 'env:CHAT_URL', token: secret('chat') }],
    telegram: { enabled, url: `${url}/bot`, token: `file:${join(directory, 'telegram')}` },
    discord: [{ enabled, default: true, workspace: 'w', url: `${url}/${secret('discord')}` }],
    teams: { enabled, 'channel-url': `${url}/${secret('teams')}` },
    pagerduty2: { enabled, url, 'routing-key': secret('pagerduty') },
    opsgenie2: { enabled, url, 'api-key': secret('opsgenie') },
    victorops: { enabled, url, 'api-key': secret('victorops'), 'routing-key': 'r' },
    pushover: { enabled, url, token: secret('pushover'), 'user-key': secret('pushover-user') },
    servicenow: { enabled, url, source: 's', username: 'u', password: secret('servicenow') },
    zenoss: { enabled, url, username: 'u', password: secret('zenoss') },
    bigpanda: { enabled, url, token: secret('bigpanda'), 'app-key': 'a' },
    alerta: { enabled, url, token: secret('alerta'), environment: 'e', origin: 'o' },
    talk: { enabled, url: `${url}/${secret('talk')}`, author_name: 'a' },
    smtp: {
      enabled,
      from: 'a@b',
      to: ['c@d'],
      host: '127.0.0.1',
      port: 9,
      username: 'u',
      password: secret('smtp'),
    },
    mqtt: [
      { enabled, name: 'm', default: true, url: 'tcp://127.0.0.1:9', password: secret('mqtt') },
    ],
    httppost: [
      {
        endpoint: 'named',
        url: url.replace('//', `//user:${encodeURIComponent(secret('in-url'))}@`),
        headers: { Authorization: `Token ${secret('header')}`, 'X-Kind': 'shown' },
      },
      { endpoint: 'basic', url, 'basic-auth': { username: 'u', password: secret('basic') } },
      { endpoint: 'reference', url, headers: { Authorization: 'env:NAMED_AUTH' } },
    ],
  };
}

const HANDLERS: Readonly<Record<string, object>> = {
  chat: { channel: '#c' },
  telegram: { 'chat-id': '1' },
  discord: {},
  teams: {},
  pagerduty2: {},
  opsgenie2: {},
  victorops: {},
  pushover: {},
  servicenow: {},
  zenoss: {},
  bigpanda: {},
  alerta: { resource: 'r', event: 'e' },
  talk: {},
  post: { endpoint: 'named', 'capture-response': true },
};

/** Handlers that bring secrets of their own, as options and in URLs and headers. */
function ownSecrets(): Readonly<Record<string, object>> {
  const withPassword = receiverUrl.replace(
    '//',
    `//user:${encodeURIComponent(secret('own-in-url'))}@`,
  );
  return {
    alerta: { resource: 'r', event: 'e', token: secret('own-alerta') },
    pagerduty2: { 'routing-key': secret('own-pagerduty') },
    pushover: { 'user-key': secret('own-pushover') },
    servicenow: { url: receiverUrl, username: 'u', password: secret('own-servicenow') },
    teams: { 'channel-url': `${receiverUrl}/${secret('own-teams')}` },
    post: {
      url: `${withPassword}/in?auth_token=${encodeURIComponent(secret('own-query'))}`,
      headers: { 'X-Api-Key': secret('own-header'), 'X-Kind': 'shown' },
      'capture-response': true,
    },
  };
}

/** Everything that was answered; the last one is returned. */
let answers: string[] = [];
async function call(method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(engine.url + path, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const answer = await response.text();
  answers.push(`${method} ${path.split('?')[0]}: ${answer}`);
  return answer.startsWith('{') ? JSON.parse(answer) : answer;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The secrets in texts, in any encoding. */
function leaks(texts: readonly string[]): readonly string[] {
  const forms = SECRETS.flatMap((value) => [
    value,
    encodeURIComponent(value),
    base64(`u:${value}`),
    base64(`user:${value}`),
  ]);
  return texts.filter((text) => forms.some((form) => text.includes(form)));
}

const soon = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 20_000 });

const TOPIC = '/engine/v1preview/alerts/topics/t';

async function raiseAlert(): Promise<void> {
  for (const [kind, options] of Object.entries(HANDLERS)) {
    const created = await call('POST', `${TOPIC}/handlers`, { id: kind, kind, options });
    expect(created, kind).toMatchObject({ id: kind });
  }
  await publish(`stream|from()|httpPost().endpoint('named').captureResponse()
stream|from()|httpPost().endpoint('basic').captureResponse()`);
}

/** One CRITICAL event in the topic. */
async function publish(more = ''): Promise<void> {
  const script = `stream|from()|alert().id('e').crit(lambda: TRUE).topic('t')\n${more}`;
  const task = { id: 'task', dbrps: [{ db: 'd', rp: 'r' }], script, status: 'enabled' };
  expect(await call('POST', '/engine/v1/tasks', task)).toMatchObject({ error: '' });
  await call('POST', '/write?db=d&rp=r', 'm v=1 1');
}

async function lookEverywhere(): Promise<void> {
  const ids = Object.keys(HANDLERS).map((id) => `${TOPIC}/handlers/${id}/state`);
  for (const path of [
    '/engine/v1/config',
    '/engine/v1/tasks',
    '/engine/v1/tasks/task?dot-view=labels',
    '/engine/v1preview/alerts/topics',
    '/engine/v1preview/alerts/dead-letters',
    TOPIC,
    `${TOPIC}/events`,
    `${TOPIC}/handlers`,
    ...ids,
    '/engine/v1/service-tests',
    '/engine/v1/debug/vars',
    '/metrics',
    '/openapi.json',
  ]) {
    await call('GET', path);
  }
}

beforeEach(() => {
  answers = [];
});

test('services that repeat what they were sent put no secret into answers, logs or dead letters', async () => {
  await raiseAlert();
  const kinds = Object.keys(HANDLERS);
  await soon(async () => {
    const list = await call('GET', '/engine/v1preview/alerts/dead-letters');
    expect(list['dead-letters'].map(({ handler }: any) => handler)).toHaveLength(kinds.length);
  });
  await soon(() => expect(lines.filter((line) => line.includes('http_post'))).toHaveLength(2));
  await lookEverywhere();

  // The secrets were sent and came back: otherwise nothing would be shown here.
  expect(leaks(requests).length).toBeGreaterThan(kinds.length);
  expect(lines.join('\n')).toContain('[REDACTED]');
  expect(leaks(answers)).toEqual([]);
  expect(leaks(lines)).toEqual([]);
});

test('failures that are repeated, and service tests, show no secret either', async () => {
  status = 503;
  await raiseAlert();
  await soon(async () => {
    for (const id of Object.keys(HANDLERS)) {
      const state = await call('GET', `${TOPIC}/handlers/${id}/state`);
      expect(JSON.stringify(state), id).toContain('cannot understand');
    }
  });
  for (const kind of [...Object.keys(HANDLERS), 'smtp', 'mqtt']) {
    if (kind !== 'post') await call('POST', `/engine/v1/service-tests/${kind}`, {});
  }
  await lookEverywhere();

  expect(leaks(answers)).toEqual([]);
  expect(leaks(lines)).toEqual([]);
});

test('the configuration shows that a secret is set, not what it is, and errors do not repeat it', async () => {
  const { elements } = await call('GET', '/engine/v1/config/discord');
  expect(elements[0]).toMatchObject({ options: { url: true }, redacted: ['url'] });
  const teams = await call('GET', '/engine/v1/config/teams/');
  expect(teams).toMatchObject({ options: { 'channel-url': true }, redacted: ['channel-url'] });
  const named = await call('GET', '/engine/v1/config/httppost/named');
  expect(named.options.headers).toEqual({ Authorization: '[REDACTED]', 'X-Kind': 'shown' });
  expect(named.options.url).toMatch(/^http:\/\/user:\[REDACTED\]@127/);

  await call('POST', '/engine/v1/config/smtp/', { set: { password: secret('changed') } });
  await call('POST', '/engine/v1/config/discord/w', { set: { url: secret('no-url') } });
  await call('POST', '/engine/v1/config/httppost/basic', {
    set: { 'basic-auth': `u:${secret('wrong-shape')}` },
  });
  await call('GET', '/engine/v1/config');

  expect(answers.filter((answer) => answer.includes('"error"'))).toHaveLength(2);
  expect(leaks(answers)).toEqual([]);
  expect(leaks(lines)).toEqual([]);
});

test('a password in the query of a request is in no log line and no link', async () => {
  await call(
    'GET',
    `/engine/v1preview/alerts/topics?u=admin&p=${secret('query').replace('+', '')}`,
  );
  await call('GET', `/engine/v1/nothing?u=admin&p=${secret('query').replace('+', '')}`);

  const text = secret('query').replace('+', '');
  await soon(() => expect(lines.filter((line) => line.includes('u=admin'))).not.toEqual([]));
  expect(lines.filter((line) => line.includes(text))).toEqual([]);
  expect(answers.filter((answer) => answer.includes(text))).toEqual([]);
});

test('secrets of a handler’s own options are used, kept over changes, and shown nowhere', async () => {
  const kinds = Object.entries(ownSecrets());
  const shown: any[] = [];
  for (const [kind, options] of kinds) {
    await call('POST', `${TOPIC}/handlers`, { id: kind, actions: [{ kind, options }] });
    shown.push(await call('GET', `${TOPIC}/handlers/${kind}`));
  }
  // Back as it was shown, then changed by a patch: both keep what is not shown.
  for (const { id, actions } of shown) {
    expect(await call('PUT', `${TOPIC}/handlers/${id}`, { id, actions })).toMatchObject({
      actions,
    });
    const operations = [
      { op: 'test', path: '/actions/0', value: actions[0] },
      { op: 'add', path: '/actions/-', value: { kind: 'stateChangesOnly' } },
    ];
    const patched = await call('PATCH', `${TOPIC}/handlers/${id}`, operations);
    expect(patched.actions).toEqual([actions[0], { kind: 'stateChangesOnly', options: {} }]);
  }
  await publish();
  await soon(async () => {
    const list = await call('GET', '/engine/v1preview/alerts/dead-letters');
    expect(list['dead-letters']).toHaveLength(kinds.length);
  });
  await lookEverywhere();

  const sent = requests.join('\n');
  for (const value of SECRETS.filter((each) => each.includes('own-')))
    expect(
      [value, encodeURIComponent(value), base64(`u:${value}`), base64(`user:${value}`)].some(
        (form) => sent.includes(form),
      ),
      value,
    ).toBe(true);
  expect(leaks(answers)).toEqual([]);
  expect(leaks(lines)).toEqual([]);
});

test('a handler refers to a secret, which is looked up and shown nowhere', async () => {
  const file = join(directory, 'token');
  writeFileSync(file, secret('own-file'));
  const handlers = {
    teams: { 'channel-url': 'env:TEAMS_URL' },
    alerta: { resource: 'r', event: 'e', token: `file:${file}` },
    post: { endpoint: 'reference', 'capture-response': true },
  };
  for (const [kind, options] of Object.entries(handlers)) {
    const created = await call('POST', `${TOPIC}/handlers`, { id: kind, kind, options });
    expect(created, kind).toMatchObject({ options });
  }
  writeFileSync(file, secret('own-file-changed'));
  await publish();
  await soon(async () => {
    const list = await call('GET', '/engine/v1preview/alerts/dead-letters');
    expect(list['dead-letters']).toHaveLength(3);
  });
  const named = await call('GET', '/engine/v1/config/httppost/reference');
  await lookEverywhere();

  expect(named.options.headers).toEqual({ Authorization: 'env:NAMED_AUTH' });
  const sent = requests.join('\n');
  for (const name of ['teams-by-reference', 'own-file-changed', 'named-by-reference'])
    expect(sent, name).toContain(secret(name));
  expect(leaks(answers)).toEqual([]);
  expect(leaks(lines)).toEqual([]);
});

test('definitions whose secret cannot be used are refused without repeating it', async () => {
  const kind = 'teams';
  const bodies = [
    { id: 'new', kind, options: { 'channel-url': '[REDACTED]' } },
    { id: 'new', kind, options: { 'channel-url': 'env:NOTHING' } },
    { id: 'new', kind: 'alerta', options: { token: [secret('wrong-type')] } },
    { id: 'new', kind: 'post', options: { headers: secret('wrong-map') } },
    `{"id":"new","kind":"teams","options":{"channel-url":${secret('raw')}}}`,
  ];
  for (const body of bodies) {
    const { error } = await call('POST', `${TOPIC}/handlers`, body);
    expect(error).toMatch(/invalid|failed/);
  }
  const headers = { Authorization: '[REDACTED]' };
  await call('POST', '/engine/v1/config/httppost/named', { set: { headers } });

  expect(answers.at(-1)).toContain('replaces a secret that is not shown');
  expect(leaks(answers)).toEqual([]);
  expect(leaks(lines)).toEqual([]);
});

test('a script that refers to a secret shows the reference, and what it publishes shows nothing', async () => {
  const script = `stream|from()|alert().id('e').crit(lambda: TRUE)
  .teams().channelURL('env:TEAMS_URL')
  .post('${receiverUrl}').header('Authorization', 'env:NAMED_AUTH').captureResponse()
stream|from()|httpPost('${receiverUrl}').header('X-Token', 'env:NAMED_AUTH').captureResponse()`;
  const task = { id: 'task', dbrps: [{ db: 'd', rp: 'r' }], script, status: 'enabled' };
  expect(await call('POST', '/engine/v1/tasks', task)).toMatchObject({ error: '' });
  await call('POST', '/write?db=d&rp=r', 'm v=1 1');
  await soon(async () => {
    const list = await call('GET', '/engine/v1preview/alerts/dead-letters');
    expect(list['dead-letters']).toHaveLength(2);
  });
  await soon(() => expect(lines.filter((line) => line.includes('http_post'))).toHaveLength(1));
  for (const format of ['raw', 'formatted'])
    await call('GET', `/engine/v1/tasks/task?script-format=${format}&dot-view=attributes`);
  await lookEverywhere();

  expect(answers.join()).toContain('env:TEAMS_URL');
  expect(leaks(requests)).toHaveLength(3);
  expect(leaks(answers)).toEqual([]);
  expect(leaks(lines)).toEqual([]);
});
