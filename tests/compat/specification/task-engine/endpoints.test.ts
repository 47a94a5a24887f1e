// The section “Endpoints” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { call, DBRPS, define, get, sentences, STREAM, useEngine } from './harness.ts';

useEngine();

sentences('Endpoints', [
  [
    'Paths are relative to {base_url}.',
    async () => {
      expect((await get('/engine/v1/ping')).status).toBe(204);
      expect((await get('/other/engine/v1/ping')).status).toBe(404);
    },
  ],
  [
    '`<id>` values follow the id rule.',
    async () => {
      const { id } = await define();
      expect((await get(`tasks/${id}`)).status).toBe(200);
      expect(
        (await call('POST', 'tasks', { id: 'a b', script: STREAM, dbrps: DBRPS })).status,
      ).toBe(400);
      expect((await get('tasks/a%20b')).status).toBe(404);
    },
  ],
]);
