// The section “States and transitions” of the specification of the task engine's HTTP API, sentence
// by sentence.
import { expect } from 'vitest';
import {
  DBRPS,
  STREAM,
  TIME,
  call,
  define,
  ended,
  get,
  record,
  recordQuery,
  replay,
  replayed,
  sentences,
  template,
  useEngine,
} from './harness.ts';

useEngine();

const statusOf = async (path: string): Promise<string> => (await get(path)).json.status;

sentences('States and transitions', [
  [
    'task | disabled | PATCH task with status `enabled`, or POST define with status `enabled` | task is not an orphan | enabled | `last-enabled` is updated',
    async () => {
      const { id } = await define();
      expect((await call('PATCH', `tasks/${id}`, { status: 'enabled' })).json).toMatchObject({
        status: 'enabled',
        executing: true,
        'last-enabled': expect.stringMatching(TIME),
      });
    },
  ],
  [
    'task | enabled | PATCH task with status `disabled` | - | disabled | -',
    async () => {
      const { id } = await define({ status: 'enabled' });
      expect((await call('PATCH', `tasks/${id}`, { status: 'disabled' })).json).toMatchObject({
        status: 'disabled',
        executing: false,
      });
    },
  ],
  [
    'task | any | template deleted | task uses that template | unchanged | the task becomes an orphan and cannot be enabled',
    async () => {
      const { id } = await template();
      const running = await define({ script: undefined, 'template-id': id, status: 'enabled' });
      await call('DELETE', `templates/${id}`);
      expect((await get(`tasks/${running.id}`)).json).toMatchObject({
        status: 'enabled',
        executing: true,
      });
      expect((await call('PATCH', `tasks/${running.id}`, { status: 'disabled' })).status).toBe(200);
      expect((await call('PATCH', `tasks/${running.id}`, { status: 'enabled' })).status).toBe(400);
      expect(await statusOf(`tasks/${running.id}`)).toBe('disabled');
    },
  ],
  [
    'recording | running | recording completes | - | finished | progress is 1',
    async () =>
      expect(await recordQuery()).toMatchObject({ status: 'finished', progress: 1, error: '' }),
  ],
  [
    'recording | running | recording fails | - | failed | `error` is set',
    async () => {
      const { id } = await record('query', { type: 'stream', query: 'x' });
      expect(await ended(`recordings/${id}`)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/./),
      });
    },
  ],
  [
    'replay | running | replay completes | - | finished | progress is 1',
    async () =>
      expect(await replayed()).toMatchObject({ status: 'finished', progress: 1, error: '' }),
  ],
  [
    'replay | running | replay fails | - | failed | `error` is set',
    async () => {
      const task = await define();
      const { id } = await replay('query', { task: task.id, query: 'x' });
      expect(await ended(`replays/${id}`)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/./),
      });
    },
  ],
  [
    'Status values: task `enabled`, `disabled`; recording and replay `running`, `failed`, `finished`; alert level `OK`, `INFO`, `WARNING`, `CRITICAL`.',
    async () => {
      const statuses = [await define(), await define({ status: 'enabled' })].map(
        ({ status }) => status,
      );
      expect(statuses).toEqual(['disabled', 'enabled']);
      expect(
        (await call('POST', 'tasks', { script: STREAM, dbrps: DBRPS, status: 'on' })).status,
      ).toBe(400);
      for (const level of ['OK', 'INFO', 'WARNING', 'CRITICAL']) {
        expect((await get(`/engine/v1preview/alerts/topics?min-level=${level}`)).status).toBe(200);
      }
      expect((await get('/engine/v1preview/alerts/topics?min-level=BAD')).status).toBe(400);
    },
  ],
  [
    'Creating a recording or replay starts it in `running`.',
    async () => {
      // Each maker asserts that the answer says `running`.
      expect(
        (await record('query', { type: 'stream', query: 'SELECT v FROM "d"."r".m1' })).status,
      ).toBe('running');
      const { id } = await define();
      const query = 'SELECT v FROM "d"."r".m1';
      expect((await replay('query', { task: id, query })).status).toBe('running');
    },
  ],
]);
