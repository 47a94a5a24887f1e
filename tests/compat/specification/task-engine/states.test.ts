// The section “States and transitions” of the specification of the task engine's HTTP API, sentence
// by sentence.
import { expect } from 'vitest';
import {
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
    'task disabled → enabled',
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
    'task enabled → disabled',
    async () => {
      const { id } = await define({ status: 'enabled' });
      expect((await call('PATCH', `tasks/${id}`, { status: 'disabled' })).json).toMatchObject({
        status: 'disabled',
        executing: false,
      });
    },
  ],
  [
    'a task whose template is deleted is unchanged and can not be enabled',
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
    'recording running → finished: progress is 1',
    async () =>
      expect(await recordQuery()).toMatchObject({ status: 'finished', progress: 1, error: '' }),
  ],
  [
    'recording running → failed: error is set',
    async () => {
      const { id } = await record('query', { type: 'stream', query: 'x' });
      expect(await ended(`recordings/${id}`)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/./),
      });
    },
  ],
  [
    'replay running → finished: progress is 1',
    async () =>
      expect(await replayed()).toMatchObject({ status: 'finished', progress: 1, error: '' }),
  ],
  [
    'replay running → failed: error is set',
    async () => {
      const task = await define();
      const { id } = await replay('query', { task: task.id, query: 'x' });
      expect(await ended(`replays/${id}`)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/./),
      });
    },
  ],
]);
