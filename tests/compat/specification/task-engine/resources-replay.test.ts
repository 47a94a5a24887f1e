// The section “Replay” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { define, ended, replay, replayed, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Replay', [
  [
    'id: random when not given',
    async () => expect((await replayed({ id: '' })).id).toMatch(/^[0-9a-f-]{36}$/),
  ],
  [
    'link',
    async () => {
      const { id, link } = await replayed();
      expect(link).toEqual({ rel: 'self', href: `/engine/v1/replays/${id}` });
    },
  ],
  ['task', async () => expect((await replayed()).task).toMatch(/^row-/)],
  [
    'recording: empty when made without one',
    async () => {
      expect((await replayed()).recording).toMatch(/^row-/);
      const { id } = await define();
      const query = 'SELECT v FROM "d"."r".m1';
      expect((await replay('query', { task: id, query })).recording).toBe('');
    },
  ],
  [
    'clock: default fast',
    async () => {
      expect((await replayed()).clock).toBe('fast');
      expect((await replayed({ clock: 'real' })).clock).toBe('real');
    },
  ],
  [
    'recording-time: default false',
    async () => {
      expect((await replayed())['recording-time']).toBe(false);
      expect((await replayed({ 'recording-time': true }))['recording-time']).toBe(true);
    },
  ],
  ['status', async () => expect((await replayed()).status).toBe('finished')],
  ['progress', async () => expect((await replayed()).progress).toBe(1)],
  [
    'error',
    async () => {
      const task = await define();
      const { id } = await replay('query', { task: task.id, query: 'SELECT v FROM m' });
      expect(await ended(`replays/${id}`)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/fully qualified/),
      });
    },
  ],
]);
