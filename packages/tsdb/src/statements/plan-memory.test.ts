// Memory of the plan cache: no text can make cached plans large.
import { metricValue } from '@tidemark/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import type { TestService } from '../testing.ts';

const MEASUREMENTS = 2000;
const TEXTS = 10;

let service: TestService;

beforeAll(async () => {
  // The plans of other tests of this process are no concern here.
  vi.resetModules();
  const { startTestService } = await import('../testing.ts');
  service = await startTestService();
  await service.query('CREATE DATABASE d');
  const lines = Array.from({ length: MEASUREMENTS }, (_, i) => `m${i},h=a f=1,g=2,k=3 1`);
  await service.write(lines.join('\n'), { db: 'd' });
});
afterAll(() => service.close());

async function cache() {
  const { text } = await service.get('/metrics');
  const read = (name: string): number => metricValue(text, `tidemark_tsdb_plan_cache_${name}`);
  return {
    entries: read('entries'),
    bytes: read('bytes'),
    limit: read('limit_bytes'),
    tooHeavy: read('too_heavy_total'),
  };
}

test('plans over many measurements are not kept, and small ones are', async () => {
  const before = await cache();
  for (let n = 1; n <= TEXTS; n++) {
    // The number is no parameter: each text is a shape of its own.
    const statement = `SELECT mean(/./) FROM /.*/ fill(${n})`;
    const { text } = await service.query(statement, { db: 'd' });
    expect(text).toContain('"name":"m0"');
  }
  const after = await cache();

  expect(after.tooHeavy - before.tooHeavy).toBe(TEXTS);
  expect([after.entries, after.bytes]).toEqual([before.entries, before.bytes]);

  for (const at of ['2020-01-01', '2020-01-02']) {
    await service.query(`SELECT max(f) FROM m1 WHERE time < '${at}'`, { db: 'd' });
  }
  const small = await cache();
  expect(small.entries).toBe(after.entries + 1);
  expect(small.bytes - after.bytes).toBeGreaterThan(200);
  expect(small.bytes - after.bytes).toBeLessThan(16 * 1024);
});

test('all of them together stay below the limit', async () => {
  const measurements = Array.from({ length: 48 }, (_, i) => `m${i}`).join(', ');
  const { limit, tooHeavy, ...first } = await cache();
  const ask = (n: number) =>
    service.query(`SELECT mean(f), max(g), min(k) FROM ${measurements} fill(${n})`, {
      db: 'd',
    });
  await ask(1);
  const weight = (await cache()).bytes - first.bytes;
  const count = Math.ceil(limit / weight) + 20;
  for (let n = 2; n <= count; n++) await ask(n);
  const last = await cache();

  expect(last.tooHeavy).toBe(tooHeavy);
  expect(last.bytes).toBeLessThanOrEqual(limit);
  expect(last.bytes).toBeGreaterThan(limit - 2 * weight);
  expect(last.entries).toBeLessThan(count);
});
