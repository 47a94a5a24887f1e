// The section “Writing data” of the specification of the task engine's HTTP API, sentence by
// sentence.
import { expect } from 'vitest';
import { call, sentences, useEngine } from './harness.ts';

useEngine();

sentences('Writing data', [
  [
    'POST /engine/v1/write | write line-protocol points',
    async () => expect((await call('POST', 'write?db=d&rp=r', 'w v=1 1')).status).toBe(204),
  ],
  [
    'POST /write | alias of the above',
    async () => expect((await call('POST', '/write?db=d&rp=r', 'w v=1 1')).status).toBe(204),
  ],
  [
    'Query parameters: `db` (database name), `rp` (retention policy name).',
    async () => {
      expect((await call('POST', 'write?db=d&rp=r', 'w v=1 1')).status).toBe(204);
      expect((await call('POST', 'write?rp=r', 'w v=1 1')).status).toBe(400);
    },
  ],
  [
    '`rp` must be given because points are scoped by database and retention policy.',
    async () => {
      const { status, json } = await call('POST', 'write?db=d', 'w v=1 1');
      expect({ status, json }).toMatchObject({ status: 400, json: { error: expect.any(String) } });
    },
  ],
  [
    'Body: line protocol text.',
    async () => {
      expect((await call('POST', 'write?db=d&rp=r', 'w,t=a v=1,n=2i 1\nw v=3 2')).status).toBe(204);
      expect((await call('POST', 'write?db=d&rp=r', '{"v":1}')).status).toBe(400);
    },
  ],
]);
