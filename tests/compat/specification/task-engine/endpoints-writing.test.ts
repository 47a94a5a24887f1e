// The section “Writing data” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { call, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Writing data', [
  [
    'POST /engine/v1/write',
    async () => expect((await call('POST', 'write?db=d&rp=r', 'w v=1 1')).status).toBe(204),
  ],
  [
    'POST /write',
    async () => expect((await call('POST', '/write?db=d&rp=r', 'w v=1 1')).status).toBe(204),
  ],
]);
