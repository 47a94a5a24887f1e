// The section “Replay” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { define, ended, replay, replayed, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Replay', [
  [
    'id | string | random when not given',
    async () => expect((await replayed({ id: '' })).id).toMatch(/^[0-9a-f-]{36}$/),
  ],
  [
    'link | link object |',
    async () => {
      const { id, link } = await replayed();
      expect(link).toEqual({ rel: 'self', href: `/engine/v1/replays/${id}` });
    },
  ],
  ['task | string | task id', async () => expect((await replayed()).task).toMatch(/^row-/)],
  [
    'recording | string | recording id; empty when the replay was made without a recording',
    async () => {
      expect((await replayed()).recording).toMatch(/^row-/);
      const { id } = await define();
      const query = 'SELECT v FROM "d"."r".m1';
      expect((await replay('query', { task: id, query })).recording).toBe('');
    },
  ],
  [
    'clock | `fast` or `real` | default `fast`',
    async () => {
      expect((await replayed()).clock).toBe('fast');
      expect((await replayed({ clock: 'real' })).clock).toBe('real');
    },
  ],
  [
    'recording-time | boolean | default false',
    async () => {
      expect((await replayed())['recording-time']).toBe(false);
      expect((await replayed({ 'recording-time': true }))['recording-time']).toBe(true);
    },
  ],
  [
    'status | `running`, `failed`, `finished` |',
    async () => expect((await replayed()).status).toBe('finished'),
  ],
  [
    'progress | number between 0 and 1 | approximate',
    async () => expect((await replayed()).progress).toBe(1),
  ],
  [
    'error | string | error that occurred during the replay',
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
