// The section “Storage” of the specification of the task engine's HTTP API, sentence by sentence.
import { expect } from 'vitest';
import { call, get, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Storage', [
  [
    'GET /engine/v1/storage/backup | - | a dump of the underlying database; restoring replaces the stored database file with it',
    async () => {
      const { status, headers } = await get('storage/backup');
      expect(status).toBe(200);
      expect(Number(headers.get('content-length'))).toBeGreaterThan(4096);
    },
  ],
  [
    'POST /engine/v1/storage/stores/<store_name> | `{action: "rebuild"}` (only action; rebuilds all indexes of the store, possibly expensive) | 204',
    async () => {
      expect((await call('POST', 'storage/stores/tasks', { action: 'rebuild' })).status).toBe(204);
    },
  ],
]);
