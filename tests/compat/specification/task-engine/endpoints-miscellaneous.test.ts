// The section “Miscellaneous” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Miscellaneous', [
  [
    'GET /engine/v1/ping | 204 with no body',
    async () => expect(await get('ping')).toMatchObject({ status: 204, json: '' }),
  ],
  [
    'GET /engine/v1/debug/vars | runtime statistics',
    async () => expect((await get('debug/vars')).json).toHaveProperty('num_tasks'),
  ],
  [
    'GET /engine/v1/debug/pprof/... | standard runtime profiling endpoints; not all return JSON',
    async () => {
      expect((await get('debug/pprof/')).json).toContain('profile?seconds');
      expect((await get('debug/pprof/cmdline')).json).toContain('node');
      expect((await get('debug/pprof/heap')).json).toHaveProperty('heapUsed');
      expect((await get('debug/pprof/goroutine')).json).toMatch(/^\d+ active\n/);
      expect((await get('debug/pprof/profile?seconds=0.01')).json).toHaveProperty('nodes');
    },
  ],
  [
    'GET /engine/v1/:routes | the available routes',
    async () => {
      const { json } = await get(':routes');
      expect(json['/engine/v1/tasks']).toEqual(['GET', 'HEAD', 'POST']);
      expect(json['/engine/v1/:routes']).toEqual(['GET', 'HEAD']);
    },
  ],
]);
