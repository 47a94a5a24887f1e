// The section “Limits” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { resolveEngineConfig } from '@tidemark/engine';
import {
  PAST,
  call,
  define,
  get,
  newId,
  record,
  recordQuery,
  sentences,
  useEngine,
} from './harness.ts';

useEngine();

sentences('Limits', [
  [
    'default port | service | 9092',
    async () =>
      expect(resolveEngineConfig([]).config.http.bindAddress.split(':').at(-1)).toBe('9092'),
  ],
  [
    '`limit` | all list endpoints | default 100 (maximum number returned)',
    async () => {
      const ids = Array.from({ length: 101 }, () => newId());
      for (const id of ids)
        await call('POST', 'templates', { id: `limit-${id}`, script: 'stream|from()' });
      expect((await get('templates?pattern=limit-*')).json.templates).toHaveLength(100);
      expect((await get('templates?pattern=limit-*&limit=200')).json.templates).toHaveLength(101);
      expect((await get('templates?pattern=limit-*&offset=99')).json.templates).toHaveLength(2);
    },
  ],
  [
    '`offset` | all list endpoints | default 0',
    async () => {
      const first = (await get('templates')).json.templates[0].id;
      expect((await get('templates?offset=0')).json.templates[0].id).toBe(first);
      expect((await get('templates?offset=1')).json.templates[0].id).not.toBe(first);
    },
  ],
  [
    'progress | recordings, replays | number 0 to 1',
    async () => {
      const task = await define();
      const { progress, id } = await record('stream', { task: task.id, stop: PAST.stop });
      expect([progress, (await get(`recordings/${id}`)).json.progress]).toEqual([0, 0]);
      await call('DELETE', `recordings/${id}`);
      expect((await recordQuery()).progress).toBe(1);
    },
  ],
]);
