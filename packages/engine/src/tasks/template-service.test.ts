// Concurrent changes of templates and their tasks.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const DBRPS = [{ db: 'd', rp: 'r' }];
const scriptOf = (name: string): string => `stream|from()|httpOut('${name}')`;

let engine: TestEngine;

beforeEach(async () => {
  engine = new TestEngine();
  await engine.start();
});

afterEach(() => engine.close());

async function send(method: string, path: string, body?: object): Promise<number> {
  return (await engine.call(method, `/engine/v1/${path}`, body)).status;
}

test('tasks that are defined and changed while their template changes all have its script in the end', async () => {
  await send('POST', 'templates', { id: 'tpl', script: scriptOf('first') });
  const task = { 'template-id': 'tpl', dbrps: DBRPS, status: 'enabled' };
  for (const id of ['a', 'b', 'c']) await send('POST', 'tasks', { id, ...task });

  const rounds = Array.from({ length: 8 }, (_, i) => [
    send('PATCH', 'templates/tpl', { script: scriptOf(`v${i}`) }),
    send('PATCH', 'tasks/a', { status: i % 2 === 0 ? 'disabled' : 'enabled' }),
    send('PATCH', 'tasks/b', { vars: { x: { type: 'int', value: i } } }),
    send('POST', 'tasks', { id: `new-${i}`, ...task }),
  ]);
  const statuses = await Promise.all(rounds.flat());

  expect(new Set(statuses)).toEqual(new Set([200]));
  const { script } = (await engine.call('GET', '/engine/v1/templates/tpl?script-format=raw')).json;
  const { tasks } = (await engine.call('GET', '/engine/v1/tasks?script-format=raw')).json;
  expect(tasks).toHaveLength(11);
  for (const { id, script: own, status, executing, error } of tasks) {
    expect({ id, own, executing, error }).toEqual({
      id,
      own: script,
      executing: status === 'enabled',
      error: '',
    });
    const name = /httpOut\('(.*)'\)/.exec(script)?.[1];
    if (executing) expect(await send('GET', `tasks/${id}/${name}`)).toBe(200);
  }
});

test('one of several requests that define the same id at once gets it', async () => {
  const body = { id: 'same', script: scriptOf('out'), dbrps: DBRPS };
  for (const kind of ['tasks', 'templates']) {
    const statuses = await Promise.all([1, 2, 3].map(() => send('POST', kind, body)));
    expect(statuses.toSorted()).toEqual([200, 400, 400]);
  }
});
