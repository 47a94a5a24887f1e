// The section “Versioning” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { define, get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Versioning', [
  [
    'All v1 endpoints are also available under the v1preview path; preview-only endpoints exist only there.',
    async () => {
      const { id } = await define();
      expect((await get(`/engine/v1preview/tasks/${id}`)).json.id).toBe(id);
    },
  ],
  [
    'All v1 endpoints are also available under the v1preview path; preview-only endpoints exist only there.',
    async () => expect((await get('/engine/v1/alerts/topics')).status).toBe(404),
  ],
  [
    'The server version is returned in the response header `X-Engine-Version` on all requests.',
    async () => {
      for (const path of ['ping', 'tasks', 'none', '/none']) {
        expect((await get(path)).headers.get('x-engine-version')).toMatch(/^\d+\./);
      }
    },
  ],
  [
    'All stable endpoints are under `/engine/v1/`.',
    async () => {
      const { json } = await get(':routes');
      const paths = Object.keys(json).filter((path) => path.startsWith('/engine/'));
      const isPreview = (path: string): boolean => path.startsWith('/engine/v1preview/');
      expect(paths.every((path) => path.startsWith('/engine/v1/') || isPreview(path))).toBe(true);
    },
  ],
  [
    'During the 1.x releases new releases are backward compatible; additions may be made, but existing endpoints are not changed in incompatible ways.',
    async () =>
      expect(Object.keys(await define())).toEqual(
        expect.arrayContaining(['id', 'type', 'dbrps', 'script', 'status', 'dot', 'link', 'stats']),
      ),
  ],
  [
    [
      'New features may first appear in a technical preview under the base path `/engine/v1preview/` and may change incompatibly until promoted.',
      'All alert endpoints are currently preview endpoints and are planned to move to the v1 base path later.',
    ],
    async () => {
      expect((await get('/engine/v1preview/alerts/topics')).status).toBe(200);
      expect((await get('/engine/v1/alerts/topics')).status).toBe(404);
    },
  ],
]);
