// The section “Recording” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { TIME, call, define, ended, record, recordQuery, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Recording', [
  [
    'id | string | random when not given',
    async () =>
      expect((await record('query', { id: '', type: 'stream', query: 'q' })).id).toMatch(
        /^[0-9a-f-]{36}$/,
      ),
  ],
  [
    'link | link object |',
    async () => {
      const { id, link } = await recordQuery();
      expect(link).toEqual({ rel: 'self', href: `/engine/v1/recordings/${id}` });
    },
  ],
  [
    'type | `stream` or `batch` | a recording can be replayed only to a task of the same type',
    async () => {
      const recording = await recordQuery('batch');
      const task = await define();
      const body = { task: task.id, recording: recording.id };
      expect((await call('POST', 'replays/', body)).status).toBe(400);
    },
  ],
  [
    'size | integer | bytes on disk',
    async () => expect((await recordQuery()).size).toBeGreaterThan(20),
  ],
  [
    'date | timestamp string | date the recording finished',
    async () => expect((await recordQuery()).date).toMatch(TIME),
  ],
  [
    'error | string | error that occurred while recording',
    async () => {
      const { id } = await record('query', { type: 'stream', query: 'SELECT v FROM m' });
      expect(await ended(`recordings/${id}`)).toMatchObject({
        status: 'failed',
        error: expect.stringMatching(/fully qualified/),
      });
    },
  ],
  [
    'status | `running`, `failed`, `finished` |',
    async () => expect((await recordQuery()).status).toBe('finished'),
  ],
  [
    'progress | number between 0 and 1 | approximate progress',
    async () => expect((await recordQuery()).progress).toBe(1),
  ],
]);
