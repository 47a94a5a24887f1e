// The section “Recording” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { TIME, call, define, ended, record, recordQuery, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Recording', [
  [
    'id: random when not given',
    async () =>
      expect((await record('query', { id: '', type: 'stream', query: 'q' })).id).toMatch(
        /^[0-9a-f-]{36}$/,
      ),
  ],
  [
    'link',
    async () => {
      const { id, link } = await recordQuery();
      expect(link).toEqual({ rel: 'self', href: `/engine/v1/recordings/${id}` });
    },
  ],
  [
    'type: replayed only to a task of the same type',
    async () => {
      const recording = await recordQuery('batch');
      const task = await define();
      const body = { task: task.id, recording: recording.id };
      expect((await call('POST', 'replays/', body)).status).toBe(400);
    },
  ],
  ['size: bytes on disk', async () => expect((await recordQuery()).size).toBeGreaterThan(20)],
  ['date: when it finished', async () => expect((await recordQuery()).date).toMatch(TIME)],
  [
    'error',
    async () => {
      const { id } = await record('query', { type: 'stream', query: 'SELECT v FROM m' });
      expect(await ended(`recordings/${id}`)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/fully qualified/),
      });
    },
  ],
  [
    'status: running, failed, finished',
    async () => expect((await recordQuery()).status).toBe('finished'),
  ],
  ['progress: between 0 and 1', async () => expect((await recordQuery()).progress).toBe(1)],
]);
