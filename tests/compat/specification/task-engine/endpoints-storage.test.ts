// The section “Storage” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { call, get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Storage', [
  [
    'GET storage/backup',
    async () => {
      const { status, headers } = await get('storage/backup');
      expect(status).toBe(200);
      expect(Number(headers.get('content-length'))).toBeGreaterThan(4096);
    },
  ],
  [
    'POST storage/stores/<name>',
    async () => {
      expect((await call('POST', 'storage/stores/tasks', { action: 'rebuild' })).status).toBe(204);
    },
  ],
]);
