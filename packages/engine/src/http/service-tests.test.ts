// Service tests over HTTP, through the endpoint: every HTTP service, with a server that accepts and
// one that refuses.
import { TestServer } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OVERRIDABLE_SECTIONS } from '../config/overridable-sections.ts';
import { TestEngine } from '@tidemark/testkit/engine';

let engine: TestEngine;
let status = 200;
const server = new TestServer(() => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: '{"ok":true,"status":"success","results":[{}]}',
}));

type Row = {
  readonly values: (url: string) => unknown;
  readonly options?: (url: string) => object;
  /** Status of an answer that means success; 200 unless told otherwise. */
  readonly accepted?: number;
};

const on = { enabled: true };
const ROWS: Readonly<Record<string, Row>> = {
  alerta: {
    values: (url) => ({ ...on, url, token: 't', environment: 'e', origin: 'o' }),
    accepted: 201,
  },
  bigpanda: { values: (url) => ({ ...on, url, token: 't', 'app-key': 'a' }) },
  chat: { values: (url) => [{ ...on, default: true, workspace: 'w', url, channel: '#c' }] },
  discord: { values: (url) => [{ ...on, default: true, workspace: 'w', url }] },
  hipchat: { values: (url) => ({ ...on, url, token: 't', room: 'r' }) },
  opsgenie: { values: (url) => ({ ...on, url, recovery_url: url, 'api-key': 'k' }) },
  opsgenie2: { values: (url) => ({ ...on, url, 'api-key': 'k' }) },
  pagerduty: { values: (url) => ({ ...on, url, 'service-key': 'k' }) },
  pagerduty2: { values: (url) => ({ ...on, url, 'routing-key': 'k' }) },
  pushover: { values: (url) => ({ ...on, url, token: 't', 'user-key': 'u' }) },
  servicenow: { values: (url) => ({ ...on, url, source: 's' }) },
  talk: { values: (url) => ({ ...on, url, author_name: 'a' }) },
  teams: { values: (url) => ({ ...on, 'channel-url': url }) },
  telegram: { values: (url) => ({ ...on, url: `${url}/bot`, token: 't', 'chat-id': '1' }) },
  victorops: { values: (url) => ({ ...on, url, 'api-key': 'k', 'routing-key': 'r' }) },
  zenoss: { values: (url) => ({ ...on, url, username: 'u', password: 'p' }) },
  httppost: {
    values: (url) => [{ endpoint: 'example', url }],
    options: (url) => ({ endpoint: 'example', url }),
  },
  kubernetes: {
    values: (url) => [{ ...on, id: 'c', 'api-servers': [url] }],
    options: () => ({ id: 'c' }),
  },
  swarm: { values: (url) => [{ ...on, id: 'c', servers: [url] }], options: () => ({ id: 'c' }) },
  ec2: {
    values: (url) => [
      { ...on, id: 'c', region: 'r', 'access-key': 'a', 'secret-key': 's', endpoint: url },
    ],
    options: () => ({ id: 'c' }),
  },
  tsdb: { values: (url) => [{ name: 'default', urls: [url], 'disable-subscriptions': true }] },
};

/** Services with other protocols; service-tests.connections.test.ts has servers for them. */
const ELSEWHERE = [
  'dns',
  'file-discovery',
  'kafka',
  'mqtt',
  'scraper',
  'sensu',
  'smtp',
  'snmptrap',
  'static-discovery',
];

/** The older names of `tsdb` and `chat`. */
const ALIASES = ['influxdb', 'slack'];

/** Services that this engine does not have: their tests say so, there too. */
const ABSENT = ['azure', 'consul', 'gce', 'marathon', 'nerve', 'serverset', 'triton'];

beforeAll(async () => {
  await server.open();
  engine = new TestEngine();
  const values = Object.entries(ROWS).map(([name, row]) => [name, row.values(server.url)]);
  await engine.start(Object.fromEntries(values));
});

afterAll(async () => {
  await engine.close();
  await server.close();
});

async function run(name: string): Promise<unknown> {
  const options = ROWS[name]?.options?.(server.url) ?? {};
  const answer = await engine.call('POST', `/engine/v1/service-tests/${name}`, options);
  expect(answer.status).toBe(200);
  return answer.json;
}

test('no section and no service test is left out', async () => {
  const tested = [...Object.keys(ROWS), ...ELSEWHERE].toSorted();
  const { json } = await engine.call('GET', '/engine/v1/service-tests');
  const listed = json.services.map(({ name }: { readonly name: string }) => name);

  expect(OVERRIDABLE_SECTIONS.map(({ name }) => name)).toEqual(tested);
  expect(listed).toEqual([...tested, ...ALIASES, ...ABSENT].toSorted());
});

test.each(Object.keys(ROWS))('%s tells of success, and of a service that refuses', async (name) => {
  const before = server.requests.length;
  status = ROWS[name]?.accepted ?? 200;
  expect(await run(name)).toEqual({ success: true, message: '' });
  status = 500;
  expect(await run(name)).toEqual({ success: false, message: expect.stringMatching(/./) });
  expect(server.requests.length).toBeGreaterThanOrEqual(before + 2);
});

test.each(ALIASES)('%s works as the present name does', async (name) => {
  status = 200;
  expect(await run(name)).toEqual({ success: true, message: '' });
});
