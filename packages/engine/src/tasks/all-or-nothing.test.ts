// A refused change affects neither stored definitions nor running tasks.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const DBRPS = [{ db: 'd', rp: 'r' }];
const GOOD = "stream|from().measurement('m')|stateCount(lambda: TRUE)|httpOut('n')";
/** Refused by a check of the definition before anything is stopped. */
const UNKNOWN_CLUSTER = "stream|from()|influxDBOut().cluster('absent').database('d')";
/** Refused by the node itself, when what ran has been stopped. */
const USED_TWICE = "stream|from()|httpOut('a')|httpOut('a')";

let engine: TestEngine;

beforeEach(async () => {
  engine = new TestEngine();
  await engine.start();
});

afterEach(() => engine.close());

const send = (method: string, path: string, body?: object): ReturnType<TestEngine['call']> =>
  engine.call(method, `/engine/v1/${path}`, body);

const task = (id: string, script: string, status = 'enabled'): ReturnType<TestEngine['call']> =>
  send('POST', 'tasks', { id, dbrps: DBRPS, script, status });

/** The stored definition of a task, without counters. */
async function stored(id: string): Promise<unknown> {
  const { stats, ...shown } = (await send('GET', `tasks/${id}?script-format=raw`)).json;
  const dot = String(shown.dot).replaceAll(/="[^"]*"/g, '');
  return { ...shown, dot };
}

const write = (): ReturnType<TestEngine['call']> =>
  engine.call('POST', '/engine/v1/write?db=d&rp=r', 'm v=1');

/** Points that a task with the script `GOOD` has counted since it was started. */
async function counted(id = 't'): Promise<unknown> {
  const [series] = (await send('GET', `tasks/${id}/n`)).json.series ?? [];
  return series?.values[0][series.columns.indexOf('state_count')] ?? 0;
}

describe.each([
  ['found by a check', UNKNOWN_CLUSTER],
  ['found by starting', USED_TWICE],
])('a script that cannot start, %s', (_found, bad) => {
  test('is not stored by a definition', async () => {
    const { status, json } = await task('t', bad);
    expect(status).toBe(400);
    expect(json.error).not.toBe('');
    expect((await send('GET', 'tasks/t')).status).toBe(404);
    expect((await task('t', GOOD)).status).toBe(200);
  });

  test('leaves a task disabled, every time', async () => {
    await task('t', bad, 'disabled');
    const before = await stored('t');
    for (let i = 0; i < 2; i++) {
      expect((await send('PATCH', 'tasks/t', { status: 'enabled' })).status).toBe(400);
      expect(await stored('t')).toEqual(before);
    }
  });

  test('comes into no task with a status', async () => {
    await task('t', GOOD, 'disabled');
    const before = await stored('t');
    const change = { script: bad, status: 'enabled', vars: { x: { type: 'int', value: 1 } } };
    expect((await send('PATCH', 'tasks/t', change)).status).toBe(400);
    expect(await stored('t')).toEqual(before);
    expect((await send('GET', 'task-versions/t')).json.versions).toHaveLength(1);
  });

  test('stops nothing that runs: it goes on with what it has counted', async () => {
    await task('t', GOOD);
    await write();
    const before = await stored('t');
    const restart = { script: bad, restart: true };
    expect((await send('PATCH', 'tasks/t', restart)).status).toBe(400);
    expect((await send('PATCH', 'tasks/t', { id: 'u', script: bad })).status).toBe(400);
    expect(await stored('t')).toEqual(before);
    expect((await send('GET', 'tasks/u')).status).toBe(404);

    await write();
    expect(await counted()).toBe(2);
  });

  test('comes into no template: template, tasks and what runs stay', async () => {
    await send('POST', 'templates', { id: 'tpl', script: GOOD });
    const of = { 'template-id': 'tpl', dbrps: DBRPS };
    await send('POST', 'tasks', { id: 'a', ...of, status: 'enabled' });
    await send('POST', 'tasks', { id: 'b', ...of, status: 'enabled' });
    await send('POST', 'tasks', { id: 'c', ...of });
    await write();
    const all = (): Promise<unknown> => Promise.all([stored('a'), stored('b'), stored('c')]);
    const before = await all();
    const template = (await send('GET', 'templates/tpl')).json;

    const { status, json } = await send('PATCH', 'templates/tpl', { script: bad });
    expect(status).toBe(400);
    expect(json.error).toMatch(/^error reloading associated task a: /);
    expect((await send('GET', 'templates/tpl')).json).toEqual(template);
    expect(await all()).toEqual(before);
    await write();
    expect([await counted('a'), await counted('b')]).toEqual([2, 2]);
  });
});

test('a refused change of what runs with an older definition leaves that running', async () => {
  await task('t', GOOD);
  await write();
  const other = GOOD.replace("'n'", "'other'");
  expect((await send('PATCH', 'tasks/t', { script: other })).json['needs-restart']).toBe(true);

  expect((await send('PATCH', 'tasks/t', { script: USED_TWICE, restart: true })).status).toBe(400);
  expect(await stored('t')).toMatchObject({ script: other, 'needs-restart': true });
  await write();
  expect(await counted()).toBe(2);
});

describe('a change of a task that runs', () => {
  test.each([
    ['script', { script: `${GOOD}|log()` }],
    ['vars', { vars: { x: { type: 'int', value: 1 } } }],
    ['dbrps', { dbrps: [{ db: 'e', rp: 'r' }] }],
  ])('of %s says that the task needs a restart, until it gets one', async (_what, change) => {
    expect((await task('t', GOOD)).json).not.toHaveProperty('needs-restart');
    expect((await send('PATCH', 'tasks/t', { status: 'enabled' })).json).not.toHaveProperty(
      'needs-restart',
    );
    expect((await send('PATCH', 'tasks/t', change)).json['needs-restart']).toBe(true);
    const { tasks } = (await send('GET', 'tasks?fields=needs-restart')).json;
    expect(tasks[0]['needs-restart']).toBe(true);

    expect((await send('PATCH', 'tasks/t', { restart: true })).json).not.toHaveProperty(
      'needs-restart',
    );
    await send('PATCH', 'tasks/t', { status: 'disabled' });
    expect((await send('PATCH', 'tasks/t', change)).json).not.toHaveProperty('needs-restart');
  });

  test('takes effect at once where the request says so', async () => {
    await task('t', GOOD);
    await write();
    const script = GOOD.replace("'n'", "'other'");
    const { status, json } = await send('PATCH', 'tasks/t', { script, restart: true });
    expect([status, json.executing, json['needs-restart']]).toEqual([200, true, undefined]);
    expect((await send('GET', 'tasks/t/other')).status).toBe(200);
    expect((await send('GET', 'tasks/t/n')).status).toBe(404);
  });

  test('starts nothing that is disabled', async () => {
    await task('t', GOOD, 'disabled');
    const { json } = await send('PATCH', 'tasks/t', { restart: true });
    expect(json).toMatchObject({ status: 'disabled', executing: false });
  });
});
