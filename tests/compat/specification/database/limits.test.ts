// The section “Limits” of the specification of the database's HTTP API.
import { expect } from 'vitest';

import { ask, query, sentences, useDatabase } from './harness.ts';

/** More than is sent at a time when chunks are asked for. */
const ROWS = 10_001;
const ROW_LIMIT = 20_000;

useDatabase({ args: ['--http-max-row-limit', String(ROW_LIMIT)] });

async function write(name: string, count: number): Promise<number> {
  const lines = Array.from({ length: count }, (_, i) => `${name} f=${i} ${i}`);
  return (await ask('POST', '/write?db=d', { body: lines.join('\n') })).status;
}

/** How many rows each line of an answer has. */
async function rowsOf(q: string, more: Record<string, string> = {}): Promise<readonly number[]> {
  const { text } = await ask('GET', query(q, { db: 'd', ...more }));
  const chunks = text.trim().split('\n');
  return chunks.map((chunk) => JSON.parse(chunk).results[0].series[0].values.length);
}

sentences('Limits', [
  [
    'default interval | /debug/requests | 10 seconds',
    async () => {
      const start = performance.now();
      expect((await ask('GET', '/debug/requests')).status).toBe(200);
      expect(performance.now() - start).toBeGreaterThanOrEqual(9999);
    },
  ],
  [
    'default chunk size | /query with `chunked=true` | 10,000 points (or per series)',
    async () => {
      await write('chunks', ROWS);
      expect(await rowsOf('SELECT f FROM chunks', { chunked: 'true' })).toEqual([10_000, 1]);
    },
  ],
  [
    'recommended batch size | /write | 5,000 to 10,000 points per request; smaller batches perform worse',
    async () => {
      expect(await write('batch', 5000)).toBe(204);
      expect(await write('batch', 10_000)).toBe(204);
      expect(await rowsOf('SELECT f FROM batch')).toEqual([10_000]);
    },
  ],
  [
    'row truncation | /query without `chunked` | none by default; configurable via `max-row-limit`',
    async () => {
      await write('rows', ROW_LIMIT + 1);
      expect(await rowsOf('SELECT f FROM rows')).toEqual([ROW_LIMIT]);
      expect(await rowsOf('SELECT f FROM rows', { chunked: 'true' })).toEqual([10_000, 10_000, 1]);
    },
  ],
]);
