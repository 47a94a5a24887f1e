// The audit record keeps who changed what, without possible secrets.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestEngine } from '@tidemark/testkit/engine';

const engine = new TestEngine();
beforeAll(() => engine.start());
afterAll(() => engine.close());

const audit = async (search = ''): Promise<readonly Record<string, unknown>[]> =>
  (await engine.call('GET', `/engine/v1/audit${search}`)).json.entries;

test('definitions and changes of the configuration are kept, over a restart', async () => {
  const task = {
    id: 'watch',
    type: 'stream',
    script: 'stream|from()',
    dbrps: [{ db: 'd', rp: 'r' }],
  };
  expect((await engine.call('POST', '/engine/v1/tasks', task)).status).toBe(200);
  await engine.call('PATCH', '/engine/v1/tasks/watch', { status: 'enabled' });
  await engine.call('POST', '/engine/v1/config/slack/', { set: { token: 'hush-hush' } });
  await engine.call('GET', '/engine/v1/tasks');
  await engine.call('POST', '/engine/v1/write?db=d&rp=r', 'm v=1');

  await engine.stop();
  await engine.start();
  const entries = await audit();
  expect(entries).toMatchObject([
    { method: 'POST', path: '/engine/v1/config/slack/', fields: ['set.token'] },
    { method: 'PATCH', path: '/engine/v1/tasks/watch', to: 'enabled', status: 200 },
    { event: 'change', method: 'POST', id: 'watch', address: '127.0.0.1', user: '' },
  ]);
  expect(JSON.stringify(entries)).not.toContain('hush-hush');
  expect(await audit('?text=watch&limit=1')).toHaveLength(1);
});

test('refused requests are kept apart from executed ones', async () => {
  const url = `${engine.url}/engine/v1/tasks`;
  const headers = { Origin: 'http://attacker.example' };
  expect((await fetch(url, { method: 'POST', body: '{}', headers })).status).toBe(403);
  expect((await audit())[0]).toMatchObject({ event: 'request refused', status: 403 });
  expect((await engine.call('GET', '/engine/v1/audit?limit=x')).status).toBe(400);
});
