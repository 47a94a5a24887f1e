// Versions of task definitions over the API: with time and user, after a restart, and without
// secrets; and how far tasks lag behind.
import { eventually } from '@tidemark/testkit';
import { TestEngine } from '@tidemark/testkit/engine';
import { afterEach, beforeEach, expect, test } from 'vitest';

const dbrps = [{ db: 'd', rp: 'r' }];
const script = (limit: number): string =>
  `stream|from().measurement('m')|where(lambda: "v" > ${limit})|httpOut('out')`;

let engine: TestEngine;

beforeEach(() => {
  engine = new TestEngine();
});

afterEach(() => engine.close());

const define = async (task: object): Promise<void> => {
  const answer = await engine.call('POST', '/engine/v1/tasks', { dbrps, ...task });
  expect(answer, JSON.stringify(answer.json)).toMatchObject({ status: 200 });
};

const change = async (id: string, changed: object): Promise<void> => {
  const answer = await engine.call('PATCH', `/engine/v1/tasks/${id}`, changed);
  expect(answer, JSON.stringify(answer.json)).toMatchObject({ status: 200 });
};

const versions = async (id: string): Promise<any[]> =>
  (await engine.call('GET', `/engine/v1/task-versions/${id}`)).json.versions;

const limits = async (id: string): Promise<readonly string[]> =>
  (await versions(id)).map((version) => / > (\d+)/.exec(version.script as string)?.[1] ?? '');

test('each definition is kept, the present one first, and what is no definition is none', async () => {
  await engine.start();
  await define({ id: 't', script: script(1), status: 'enabled' });
  await change('t', { script: script(2) });
  await change('t', { status: 'disabled' });
  await change('t', { script: script(2) });
  await change('t', { dbrps: [{ db: 'other', rp: 'r' }] });
  await engine.stop();
  await engine.start();

  const kept = await versions('t');
  expect(await limits('t')).toEqual(['2', '2', '1']);
  expect(kept.map(({ number, dbrps: [first] }) => [number, first.db])).toEqual([
    [3, 'other'],
    [2, 'd'],
    [1, 'd'],
  ]);
  expect(kept[0]).toMatchObject({ user: '', 'template-id': '', type: 'stream', vars: {} });
  expect(Date.parse(kept[0].time as string)).toBeGreaterThan(Date.parse(kept[2].time as string));
});

test('one is returned to by defining it again', async () => {
  await engine.start();
  await define({ id: 't', script: script(1) });
  await change('t', { script: script(2) });
  const [, first] = await versions('t');
  await change('t', { script: first.script, vars: first.vars, dbrps: first.dbrps });

  expect(await limits('t')).toEqual(['1', '2', '1']);
  expect((await engine.call('GET', '/engine/v1/tasks/t')).json.script).toContain('> 1');
});

test('they go with a new id and end with the task', async () => {
  await engine.start();
  await define({ id: 'a', script: script(1) });
  await change('a', { id: 'b', script: script(2) });

  expect(await engine.call('GET', '/engine/v1/task-versions/a')).toMatchObject({ status: 404 });
  expect(await limits('b')).toEqual(['2', '1']);
  await engine.call('DELETE', '/engine/v1/tasks/b');
  await define({ id: 'b', script: script(3) });
  expect(await limits('b')).toEqual(['3']);
});

test('only so many are kept, and none when none are wanted', async () => {
  await engine.start({ task: { 'keep-versions': 2 } });
  await define({ id: 't', script: script(1) });
  for (const limit of [2, 3, 4]) await change('t', { script: script(limit) });

  expect(await limits('t')).toEqual(['4', '3']);
  expect((await versions('t'))[0]).toMatchObject({ number: 4 });
  await engine.stop();
  await engine.start({ task: { 'keep-versions': 0 } });
  await change('t', { script: script(5) });
  expect(await limits('t')).toEqual([]);
});

test('a template changes its tasks, too, and secrets are kept nowhere', async () => {
  await engine.start();
  const template = (limit: number): string =>
    `var key string\nvar limit = ${limit}.0\nstream|from()|where(lambda: "v" > limit)|httpOut('out')`;
  const made = await engine.call('POST', '/engine/v1/templates', {
    id: 'above',
    script: template(1),
  });
  expect(made.status, JSON.stringify(made.json)).toBe(200);
  const vars = { key: { type: 'secret', value: 'very-secret-key' } };
  await define({ id: 't', 'template-id': 'above', vars });
  await engine.call('PATCH', '/engine/v1/templates/above', { script: template(2) });
  const kept = await versions('t');

  expect(kept.map(({ number }) => number)).toEqual([2, 1]);
  expect(kept[0]).toMatchObject({ 'template-id': 'above', vars: { key: { type: 'secret' } } });
  expect(JSON.stringify(kept)).not.toContain('very-secret-key');
});

test.each([
  ['in this thread', '0'],
  ['in a task host', '1'],
])('a task tells what it was given last, to those who ask, %s', async (_where, hosts) => {
  await engine.start({ task: { hosts } });
  await define({ id: 't', script: script(1), status: 'enabled' });
  const lag = async (): Promise<any> =>
    (await engine.call('GET', '/engine/v1/tasks?fields=lag')).json.tasks[0].lag;

  expect(await lag()).toEqual({ waiting: 0 });
  await engine.call('POST', '/write?db=d&rp=r&precision=s', 'm v=1 100\nm v=2 200');
  const told = await eventually('the points', async () => {
    const found = await lag();
    return found.newest !== undefined && found.waiting === 0 ? (found as unknown) : undefined;
  });
  expect(told).toEqual({ waiting: 0, newest: '1970-01-01T00:03:20Z' });
  expect((await engine.call('GET', '/engine/v1/tasks/t')).json).not.toHaveProperty('lag');
});
