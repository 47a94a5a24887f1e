// The sections “Request counts (returned by /debug/requests)” and “GET /debug/requests” of the
// specification of the database's HTTP API.
import { expect } from 'vitest';

import { ask, query, sentences, useDatabase } from './harness.ts';

useDatabase();

/** Asks and writes as `ana` for as long as somebody counts. */
async function counted(path: string): Promise<{ readonly status: number; readonly json: any }> {
  const watch = ask('GET', path);
  const ended = watch.then(() => true);
  do {
    await ask('GET', query('SHOW DATABASES', { u: 'ana', p: 'pw' }));
    await ask('POST', '/write?db=d&u=ana&p=pw', { body: 'counted f=1 1' });
  } while ((await Promise.race([ended, false])) === false);
  const { status, text } = await watch;
  return { status, json: JSON.parse(text) };
}

const COUNTS = { 'ana:127.0.0.1': { writes: expect.any(Number), queries: expect.any(Number) } };

sentences('Request counts (returned by /debug/requests)', [
  [
    'A JSON object whose keys are `<username>:<ip_address>` and whose values are `{ writes: <integer>, queries: <integer> }`, counting requests to /write and /query in the measured interval.',
    async () => {
      const { json } = await counted('/debug/requests?seconds=1');
      expect(json).toEqual(COUNTS);
      expect(Number.isInteger(json['ana:127.0.0.1'].writes)).toBe(true);
      expect(json['ana:127.0.0.1'].queries).toBeGreaterThan(0);
    },
  ],
]);

sentences('GET /debug/requests', [
  [
    ['Returns the request counts object described above.', 'Response: 200 with the counts object.'],
    async () => {
      expect(await counted('/debug/requests?seconds=1')).toEqual({ status: 200, json: COUNTS });
    },
  ],
  [
    'seconds | integer | no | 10 | length in seconds of the interval over which counts are collected',
    async () => {
      const [wrong, start] = [await ask('GET', '/debug/requests?seconds=abc'), performance.now()];
      expect([wrong.status, JSON.parse(wrong.text)]).toEqual([
        400,
        { error: 'seconds must be a whole number, not "abc"' },
      ]);
      expect((await ask('GET', '/debug/requests?seconds=2')).status).toBe(200);
      expect(performance.now() - start).toBeGreaterThanOrEqual(1999);
    },
  ],
]);
