// Dead letters: where they appear, and how they are retried or dropped. Also what /health reports.
import { eventually, TestServer } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const LETTERS = '/engine/v1preview/alerts/dead-letters';
const HANDLERS = '/engine/v1preview/alerts/topics/t/handlers';

let engine: TestEngine;
let receiver: TestServer;
let url: string;
/** The receiver's answer; after 400 no delivery is repeated. */
let status: number;
let received: string[];

beforeEach(async () => {
  status = 400;
  received = [];
  receiver = new TestServer(({ body }) => {
    if (status === 200) received.push((JSON.parse(body) as { id: string }).id);
    return { status };
  });
  await receiver.open();
  url = `${receiver.url}/`;
  engine = new TestEngine();
  await engine.start();
  await engine.call('POST', '/engine/v1/tasks', {
    id: 'task',
    dbrps: [{ db: 'd', rp: 'r' }],
    script:
      "stream|from()|groupBy('h')|alert().id('{{ index .Tags \"h\" }}').crit(lambda: TRUE).topic('t')",
    status: 'enabled',
  });
  await define('h1');
});
afterEach(async () => {
  await engine.close();
  await receiver.close();
});

async function define(id: string): Promise<void> {
  const handler = { id, kind: 'post', options: { url } };
  expect((await engine.call('POST', HANDLERS, handler)).status).toBe(200);
}

/** Raises events of these ids, which the receiver refuses, until so many are dead. */
async function moveToDeadLetters(ids: readonly string[], count: number): Promise<void> {
  const lines = ids.map((id) => `m,h=${id} v=1 1`).join('\n');
  expect((await engine.call('POST', '/write?db=d&rp=r', lines)).status).toBe(204);
  await eventually('the dead letters', async () => {
    const { json } = await engine.call('GET', LETTERS);
    return json.total === count ? true : undefined;
  });
}

const list = async (query = ''): Promise<any> => (await engine.call('GET', LETTERS + query)).json;
const change = (body: object) => engine.call('POST', LETTERS, body);

test('they are listed newest first, by topic and handler, in pages, with their reasons', async () => {
  await define('h2');
  await moveToDeadLetters(['a', 'b'], 4);

  const all = await list();
  expect(all['dead-letters'][0]).toMatchObject({
    id: expect.stringMatching(/^\d+$/),
    topic: 't',
    handler: expect.stringMatching(/^h[12]$/),
    event: 'b',
    level: 'CRITICAL',
    reason: expect.stringMatching(/400/),
    time: expect.stringMatching(/^\d{4}-/),
  });
  const own = await list('?handler=h2&topic=t');
  expect(own['dead-letters'].map((letter: any) => [letter.handler, letter.event])).toEqual([
    ['h2', 'b'],
    ['h2', 'a'],
  ]);
  const page = await list('?handler=h2&offset=1&limit=1&fields=event');
  expect(page).toMatchObject({ total: 2, 'dead-letters': [{ event: 'a' }] });
  expect(Object.keys(page['dead-letters'][0]).sort()).toEqual(['event', 'id']);
  expect((await list('?topic=other')).total).toBe(0);
});

test('requeued letters are delivered in order, once, and leave the list', async () => {
  await moveToDeadLetters(['a', 'b', 'c'], 3);
  status = 200;

  const answers = await Promise.all([
    change({ action: 'retry', topic: 't' }),
    change({ action: 'retry', all: true }),
  ]);

  expect(answers.map(({ json }) => json)).toEqual([
    { action: 'retry', count: 3, left: 0 },
    { action: 'retry', count: 0, left: 0 },
  ]);
  await eventually('the events', () => Promise.resolve(received.length === 3 ? true : undefined));
  expect(received).toEqual(['a', 'b', 'c']);
  expect((await list()).total).toBe(0);
});

test('a delivery that fails again is a dead letter again; without its handler it stays one', async () => {
  await moveToDeadLetters(['a'], 1);
  const before = (await list())['dead-letters'][0];

  expect((await change({ action: 'retry', ids: [before.id] })).json.count).toBe(1);
  const again = await eventually('the dead letter', async () => {
    const [letter] = (await list())['dead-letters'];
    return letter;
  });
  expect(again).toMatchObject({ event: 'a', handler: 'h1' });
  expect(again.id).not.toBe(before.id);

  await engine.call('DELETE', `${HANDLERS}/h1`);
  expect((await change({ action: 'retry', all: true })).json).toMatchObject({ count: 0, left: 1 });
});

test('dropped letters are gone, after a restart too', async () => {
  await moveToDeadLetters(['a', 'b'], 2);
  const [newest] = (await list())['dead-letters'];

  expect((await change({ action: 'drop', ids: [newest.id] })).json).toEqual({
    action: 'drop',
    count: 1,
    left: 1,
  });
  await engine.stop();
  await engine.start();
  expect((await list())['dead-letters']).toMatchObject([{ event: 'a' }]);
  expect((await change({ action: 'drop', all: true })).json).toMatchObject({ count: 1, left: 0 });
});

test.each([
  {},
  { action: 'drop' },
  { action: 'burn', all: true },
  { action: 'drop', all: true, topic: 't' },
  { action: 'drop', ids: [1] },
  { action: 'drop', topic: 1 },
])('%j is refused', async (body) => {
  expect(await change(body)).toMatchObject({
    status: 400,
    json: { error: expect.stringMatching(/^invalid action: /) },
  });
});

describe('/health', () => {
  const health = () => engine.call('GET', '/health');

  test('passes while all is well, without credentials', async () => {
    expect(await health()).toMatchObject({
      status: 200,
      json: { name: 'tidemark-engine', status: 'pass', message: 'ready' },
    });
    const closed = new TestEngine();
    await closed.start({ http: { 'auth-enabled': true } });
    try {
      expect((await closed.call('GET', '/health')).status).toBe(200);
      expect((await closed.call('GET', '/engine/v1/tasks')).status).toBe(401);
    } finally {
      await closed.close();
    }
  });

  test('warns of tasks that do not run and of dead letters', async () => {
    await moveToDeadLetters(['a'], 1);
    const script = "stream|from()|httpPost().endpoint('hook')";
    const config = '/engine/v1/config/httppost';
    const hook = { endpoint: 'hook', url: 'http://127.0.0.1:1' };
    expect((await engine.call('POST', config, { add: hook })).status).toBe(200);
    await engine.startTask('bad', script);
    expect((await engine.call('POST', config, { remove: ['hook'] })).status).toBe(200);
    await engine.stop();
    await engine.start();

    expect(await health()).toMatchObject({
      status: 200,
      json: {
        status: 'warn',
        message: '1 enabled but not running, 1 undeliverable events',
        checks: [
          { name: 'tasks', status: 'warn' },
          { name: 'dead-letters', status: 'warn' },
        ],
      },
    });
  });
});
