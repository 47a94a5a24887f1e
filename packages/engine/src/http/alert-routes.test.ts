// Topics, events and handlers over HTTP, on one running server.
import { TestServer } from '@tidemark/testkit';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

const TOPICS = '/engine/v1preview/alerts/topics';

let engine: TestEngine;
let receiver: TestServer;
let url = '';
const received: { path: string; id: string; level: string; previousLevel: string }[] = [];

beforeAll(async () => {
  receiver = new TestServer(({ path, body }) => {
    received.push({ path, ...JSON.parse(body) });
    return {};
  });
  await receiver.open();
  url = receiver.url;
  engine = new TestEngine();
  await engine.start();
});

afterAll(async () => {
  await engine.close();
  await receiver.close();
});

async function call(method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(engine.url + path, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const answer = await response.text();
  return { status: response.status, ...(answer.startsWith('{') ? JSON.parse(answer) : {}) };
}

/** A task whose events have the tag `h` for an id and the level of the field `v`. */
async function watch(id: string, handlers: string): Promise<void> {
  const script = `stream|from().measurement('${id}').groupBy('h')
    |alert().id('{{ index .Tags "h" }}').warn(lambda: "v" > 1).crit(lambda: "v" > 2)${handlers}`;
  const task = { id, dbrps: [{ db: 'd', rp: 'r' }], script, status: 'enabled' };
  expect(await call('POST', '/engine/v1/tasks', task)).toMatchObject({
    status: 'enabled',
    error: '',
  });
}

/** Writes points; a busy machine may need a while until their events are in the topic. */
async function write(lines: string, topic: string, collected: number): Promise<void> {
  await call('POST', '/write?db=d&rp=r&precision=s', lines);
  await soon(async () =>
    expect(await call('GET', `${TOPICS}/${topic}`)).toMatchObject({ collected }),
  );
}

const soon = (check: () => unknown): Promise<unknown> => vi.waitFor(check, { timeout: 20_000 });

const ids = (list: { id: string }[]): string[] => list.map(({ id }) => id);

test('a topic of a script has handlers that are not listed and cannot be changed', async () => {
  await watch('anonymous', `.post('${url}/anonymous')`);
  await write('anonymous,h=a v=3 1', 'main:anonymous:alert2', 1);

  const [topic] = (await call('GET', `${TOPICS}?pattern=main:anonymous:*`)).topics;
  const list = await call('GET', `${TOPICS}/${topic.id}/handlers`);
  const one = await call('GET', `${TOPICS}/${topic.id}/handlers/0:post`);

  expect(topic).toMatchObject({ id: 'main:anonymous:alert2', level: 'CRITICAL', collected: 1 });
  expect(list).toMatchObject({ status: 200, topic: topic.id, handlers: null });
  expect(one.status).toBe(404);
  await soon(() => expect(received.map(({ path }) => path)).toContain('/anonymous'));
});

test('levels, lists and events follow what happens, and deleting forgets it', async () => {
  await watch('lists', `.topic('lists')`);
  await write('lists,h=a v=2 1\nlists,h=b v=3 1\nlists,h=c v=3 1\nlists,h=c v=0 61', 'lists', 4);

  const events = (query = ''): Promise<any> => call('GET', `${TOPICS}/lists/events${query}`);
  expect(await call('GET', `${TOPICS}/lists`)).toMatchObject({ level: 'CRITICAL', collected: 4 });
  expect(ids((await events()).events)).toEqual(['a', 'b', 'c']);
  expect(ids((await events('?min-level=warning')).events)).toEqual(['a', 'b']);
  expect(ids((await events('?min-level=CRIT')).events)).toEqual(['b']);
  const severe = await events('?order=level&limit=1');
  expect([severe.total, severe.levels, ids(severe.events)]).toEqual([
    3,
    { OK: 1, INFO: 0, WARNING: 1, CRITICAL: 1 },
    ['b'],
  ]);
  expect((await events('?order=time')).error).toBe('unknown order "time": it is id or level');
  expect(ids((await call('GET', `${TOPICS}?min-level=CRITICAL&pattern=l*`)).topics)).toEqual([
    'lists',
  ]);
  expect(await call('GET', `${TOPICS}/lists/events/c`)).toMatchObject({
    id: 'c',
    state: { level: 'OK', message: 'c is OK', duration: '1m0s', time: '1970-01-01T00:01:01Z' },
  });
  expect((await call('GET', `${TOPICS}/lists/events/x`)).error).toBe(
    'unknown event "x" in topic "lists"',
  );

  expect((await call('DELETE', `${TOPICS}/lists`)).status).toBe(204);
  expect((await call('GET', `${TOPICS}/lists`)).status).toBe(404);
  await write('lists,h=a v=3 2', 'lists', 1);
  expect(await call('GET', `${TOPICS}/lists`)).toMatchObject({ level: 'CRITICAL', collected: 1 });
});

test('a handler is a chain that patches change, and what it passes on is delivered', async () => {
  await watch('chain', `.topic('chain')`);
  const actions = [
    { kind: 'stateChangesOnly' },
    { kind: 'post', options: { url: `${url}/first` } },
    { kind: 'publish', options: { topics: ['next'] } },
  ];
  const match = 'level() >= WARNING OR "h" == \'told\'';
  await call('POST', `${TOPICS}/next/handlers`, {
    id: 'next',
    actions: [{ kind: 'post', options: { url: `${url}/next` } }],
  });
  expect(await call('POST', `${TOPICS}/chain/handlers`, { id: 'h', actions, match })).toMatchObject(
    {
      status: 200,
      id: 'h',
      match,
    },
  );
  await write(
    'chain,h=a v=3 1\nchain,h=a v=3 2\nchain,h=a v=0 3\nchain,h=told v=2 4\nchain,h=told v=0 5',
    'chain',
    5,
  );
  const levels = (path: string): string[] =>
    received.filter((one) => one.path === path).map(({ id, level }) => `${id} ${level}`);
  const expected = ['a CRITICAL', 'told WARNING', 'told OK'];
  await soon(() => expect(levels('/next')).toEqual(expected));
  expect(levels('/first')).toEqual(expected);

  const patched = await call('PATCH', `${TOPICS}/chain/handlers/h`, [
    { op: 'test', path: '/actions/1/kind', value: 'post' },
    { op: 'replace', path: '/actions/1/options/url', value: `${url}/second` },
    { op: 'move', from: '/actions/1', path: '/actions/0' },
    { op: 'remove', path: '/actions/2' },
    { op: 'replace', path: '/match', value: 'changed()' },
  ]);
  expect(patched).toMatchObject({
    actions: [{ kind: 'post', options: { url: `${url}/second` } }, { kind: 'stateChangesOnly' }],
    match: 'changed()',
  });
  await write('chain,h=b v=3 6', 'chain', 6);
  await soon(() => expect(levels('/second')).toEqual(['b CRITICAL']));
  expect(levels('/first')).toEqual(expected);

  const refused = await call('PATCH', `${TOPICS}/chain/handlers/h`, [
    { op: 'test', path: '/actions/0/kind', value: 'tcp' },
    { op: 'remove', path: '/actions/0' },
  ]);
  expect(refused.status).toBe(400);
  expect((await call('GET', `${TOPICS}/chain/handlers/h`)).actions).toHaveLength(2);
  expect((await call('DELETE', `${TOPICS}/chain/handlers/h`)).status).toBe(204);
  expect((await call('GET', `${TOPICS}/chain/handlers`)).handlers).toEqual([]);
});
