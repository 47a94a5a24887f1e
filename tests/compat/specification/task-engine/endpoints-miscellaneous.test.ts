// The section “Miscellaneous” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Miscellaneous', [
  ['GET ping', async () => expect(await get('ping')).toMatchObject({ status: 204, json: '' })],
  [
    'GET debug/vars',
    async () => expect((await get('debug/vars')).json).toHaveProperty('num_tasks'),
  ],
  [
    'GET debug/pprof/...',
    async () => {
      expect((await get('debug/pprof/')).json).toContain('profile?seconds');
      expect((await get('debug/pprof/cmdline')).json).toContain('node');
      expect((await get('debug/pprof/heap')).json).toHaveProperty('heapUsed');
      expect((await get('debug/pprof/goroutine')).json).toMatch(/^\d+ active\n/);
      expect((await get('debug/pprof/profile?seconds=0.01')).json).toHaveProperty('nodes');
    },
  ],
  [
    'GET :routes',
    async () => {
      const { json } = await get(':routes');
      expect(json['/engine/v1/tasks']).toEqual(['GET', 'HEAD', 'POST']);
      expect(json['/engine/v1/:routes']).toEqual(['GET', 'HEAD']);
    },
  ],
]);
