// The section “Versioning” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { define, get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Versioning', [
  [
    'everything stable is available under the preview path',
    async () => {
      const { id } = await define();
      expect((await get(`/engine/v1preview/tasks/${id}`)).json.id).toBe(id);
    },
  ],
  [
    'preview-only endpoints exist only there',
    async () => expect((await get('/engine/v1/alerts/topics')).status).toBe(404),
  ],
  [
    'X-Engine-Version on all requests',
    async () => {
      for (const path of ['ping', 'tasks', 'none', '/none']) {
        expect((await get(path)).headers.get('x-engine-version')).toMatch(/^\d+\./);
      }
    },
  ],
]);
