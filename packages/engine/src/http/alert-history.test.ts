// The history of alerts: level changes, also after a restart; the latest outcomes of a handler; and
// a test of a handler with an event.
import { TestServer } from '@tidemark/testkit';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const ALERTS = '/engine/v1preview/alerts';

let engine: TestEngine;
let receiver: TestServer;

beforeEach(async () => {
  receiver = new TestServer();
  await receiver.open();
  engine = new TestEngine();
  await engine.start();
  const script = `stream|from().measurement('m').groupBy('h')
    |alert().id('{{ index .Tags "h" }}').warn(lambda: "v" > 1).crit(lambda: "v" > 2).topic('t')`;
  const task = { id: 'watch', dbrps: [{ db: 'd', rp: 'r' }], script, status: 'enabled' };
  expect(await engine.call('POST', '/engine/v1/tasks', task)).toMatchObject({ status: 200 });
});

afterEach(async () => {
  await engine.close();
  await receiver.close();
});

const write = (lines: string): ReturnType<TestEngine['call']> =>
  engine.call('POST', '/write?db=d&rp=r&precision=s', lines);

const history = async (query = ''): Promise<any> =>
  (await engine.call('GET', `${ALERTS}/history${query}`)).json;

const soon = <T>(check: () => T): Promise<unknown> => vi.waitFor(check, { timeout: 20_000 });

test('changes of levels are told, the newest first, and stay over a restart', async () => {
  await write('m,h=a v=2 1\nm,h=a v=2 2\nm,h=b v=3 3\nm,h=a v=0 5');
  await soon(async () => expect((await history()).total).toBe(3));
  const origin = { task: 'watch', measurement: 'm', group: { h: 'a' } };
  const told = [
    { ...origin, topic: 't', id: 'a', level: 'OK', previous: 'WARNING', duration: '4s' },
    { topic: 't', id: 'b', level: 'CRITICAL', previous: 'OK', time: '1970-01-01T00:00:03Z' },
    { topic: 't', id: 'a', level: 'WARNING', previous: 'OK', duration: '0s' },
  ];
  expect((await history()).changes).toMatchObject(told);
  await engine.stop();
  await engine.start();
  await write('m,h=b v=0 9');
  await soon(async () => expect((await history()).total).toBe(4));

  expect((await history('?offset=1')).changes).toMatchObject(told);
  expect((await history('?topic=other')).changes).toEqual([]);
  expect((await history('?limit=1')).changes).toMatchObject([{ id: 'b', level: 'OK' }]);
});

test('all groups of an alert node have levels, and the most severe are first', async () => {
  await write(
    'm,h=a v=0 1\nm,h=b v=2 2\nm,h=c v=3 3\nm,h=d v=0 4\nm,h=b v=2 5\nm,h=d v=2 6\nm,h=d v=0 7',
  );
  const groups = async (query = '') =>
    (await engine.call('GET', `${ALERTS}/groups/watch/alert2${query}`)).json;
  await soon(async () => expect((await groups()).total).toBe(4));
  const all = [
    { group: 'h=c', level: 'CRITICAL', since: '1970-01-01T00:00:03Z', event: 'c' },
    { group: 'h=b', level: 'WARNING', since: '1970-01-01T00:00:02Z', message: 'b is WARNING' },
    { group: 'h=a', level: 'OK', tags: { h: 'a' }, flapping: false },
    { group: 'h=d', level: 'OK', 'last-event': '1970-01-01T00:00:07Z' },
  ];
  await soon(async () => expect((await groups()).groups).toMatchObject(all));

  expect((await groups()).groups[2]).toEqual(all[2]);
  expect(await groups('?offset=1&limit=1')).toMatchObject({ total: 4, groups: [all[1]] });
  expect(await groups('?pattern=h=[ad]')).toMatchObject({ total: 2, groups: all.slice(2) });
  const failed = async (path: string) =>
    (await engine.call('GET', `${ALERTS}/groups/${path}`)).status;
  expect(await failed('watch/from1')).toBe(400);
  expect(await failed('other/alert2')).toBe(404);

  // They are known again before the next point.
  await engine.stop();
  await engine.start();
  await soon(async () =>
    expect((await groups()).groups?.slice(0, 2)).toMatchObject(all.slice(0, 2)),
  );
});

test('the state of a handler includes its last deliveries', async () => {
  const actions = [
    { kind: 'stateChangesOnly' },
    { kind: 'post', options: { url: `${receiver.url}/alert` } },
  ];
  const handler = { id: 'h', actions };
  await engine.call('POST', `${ALERTS}/topics/t/handlers`, handler);
  await write('m,h=a v=2 1\nm,h=a v=2 2');
  const state = async (): Promise<any> =>
    (await engine.call('GET', `${ALERTS}/topics/t/handlers/h/state`)).json;
  await soon(async () => expect((await state()).recent).toHaveLength(2));

  expect((await state()).recent).toMatchObject([
    { event: 'a', level: 'WARNING', outcome: 'stopped', reason: '' },
    { event: 'a', level: 'WARNING', outcome: 'delivered', reason: '' },
  ]);
  receiver.answer = () => ({ status: 400 });
  await write('m,h=a v=3 3');
  await soon(async () => expect((await state()).failed).toBe(1));
  expect((await state()).recent[0]).toMatchObject({
    level: 'CRITICAL',
    outcome: 'failed',
    reason: expect.stringContaining('400'),
  });
});

test('a handler that is not defined is tried on an event', async () => {
  const handler = {
    id: 'new',
    actions: [
      { kind: 'stateChangesOnly' },
      { kind: 'post', options: { url: `${receiver.url}/alert` } },
      { kind: 'post', options: { url: 'http://127.0.0.1:1/' } },
    ],
  };
  const event = { id: 'web', level: 'WARNING', message: 'web is slow', tags: { host: 'web' } };
  const tried = await engine.call('POST', `${ALERTS}/topics/t/handler-tests`, { handler, event });

  expect(tried.json).toMatchObject({
    results: [
      { kind: 'post', success: true, message: '' },
      { kind: 'post', success: false, message: expect.stringContaining('ECONNREFUSED') },
    ],
  });
  expect(JSON.parse(receiver.requests[0]?.body ?? '')).toMatchObject({
    id: 'web',
    level: 'WARNING',
    message: 'web is slow',
    data: { series: [{ name: 't', tags: { host: 'web' } }] },
  });
  expect((await engine.call('GET', `${ALERTS}/topics/t/handlers`)).json.handlers).toEqual([]);
  expect((await history()).total).toBe(0);
});

test('the secret of a stored handler is kept in a test, and sent nowhere else', async () => {
  const define = (url: string, secret: string): object => ({
    id: 'h',
    actions: [{ kind: 'post', options: { url, headers: { Authorization: secret } } }],
  });
  const url = `${receiver.url}/alert`;
  await engine.call('POST', `${ALERTS}/topics/t/handlers`, define(url, 'Bearer xyz'));
  const shown = (await engine.call('GET', `${ALERTS}/topics/t/handlers/h`)).json;
  expect(JSON.stringify(shown)).not.toContain('xyz');
  const test = (handler: object): ReturnType<TestEngine['call']> =>
    engine.call('POST', `${ALERTS}/topics/t/handler-tests`, { handler });

  expect((await test({ id: 'h', actions: shown.actions })).json.results).toMatchObject([
    { success: true },
  ]);
  expect(receiver.requests[0]?.headers.authorization).toBe('Bearer xyz');
  const elsewhere = JSON.parse(
    JSON.stringify(shown.actions).replace(receiver.url, 'http://evil.example'),
  ) as object;
  expect(await test({ id: 'h', actions: elsewhere })).toMatchObject({ status: 400 });
});

test.each([
  ['a kind that does not exist', { handler: { id: 'x', actions: [{ kind: 'luck' }] } }],
  ['a level that does not exist', { handler: { id: 'x', kind: 'log' }, event: { level: 'BAD' } }],
  ['no handler', {}],
])('refuses %s', async (_what, body) => {
  const { status } = await engine.call('POST', `${ALERTS}/topics/t/handler-tests`, body);

  expect(status).toBe(400);
});
