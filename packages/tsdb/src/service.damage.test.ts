// Responses to clients when files are damaged.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openStorageInline } from '@tidemark/storage';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { startTestService } from './testing.ts';
import type { TestService } from './testing.ts';

let service: TestService;
let directory: string;

/** A database in one segment, which is deleted while the service is stopped, and another one. */
beforeEach(async () => {
  service = await startTestService();
  ({ directory } = service);
  await service.query('CREATE DATABASE a; CREATE DATABASE b');
  await service.write('m,t=x f=1 1', { db: 'a' });
  await service.stop();
  const data = join(directory, 'tsdb', 'data');
  const storage = await openStorageInline({ directory: data, hasBackgroundWork: false });
  await storage.flush();
  await storage.close();
  const files = readdirSync(data, { recursive: true, encoding: 'utf8' });
  const segment = files.find((name) => name.endsWith('.seg'));
  service = await startTestService({ directory });
  await service.write('m,t=x f=2 1', { db: 'b' });
  await service.stop();
  rmSync(join(data, segment!));
});
afterEach(() => service.close());

test('a query that needs what is damaged fails with a sentence, others are answered', async () => {
  service = await startTestService({ directory });

  const failed = await service.query('SELECT count(f) FROM m', { db: 'a' });
  const shown = await service.query('SHOW SERIES', { db: 'a' });
  const csv = await service.query(
    'SELECT f FROM m',
    { db: 'a' },
    { headers: { accept: 'text/csv' } },
  );
  const answered = await service.query('SELECT count(f) FROM m', { db: 'b' });
  const health = await service.get('/health');

  expect(failed.json.results[0].error).toMatch(/segment is missing; .*tidemark tsdb repair/);
  expect(shown.json.results[0].error).toMatch(/segment is missing; .*tidemark tsdb repair/);
  expect([csv.status, csv.text]).toEqual([500, expect.stringContaining('tidemark tsdb repair')]);
  expect(answered.json.results[0].series[0].values).toEqual([['1970-01-01T00:00:00Z', 1]]);
  expect(health.status).toBe(200);
  expect(health.json).toMatchObject({
    status: 'warn',
    message: expect.stringContaining('1 damaged file'),
    checks: [{ status: 'fail', message: 'segment is missing' }],
  });
});

test('with storage.serve-damaged answers are marked; what cannot be marked fails', async () => {
  service = await startTestService({
    directory,
    sections: { storage: { 'serve-damaged': true } },
  });

  await service.write('m,t=y f=3 2', { db: 'a' });
  const whole = await service.query('SELECT count(f) FROM m', { db: 'a' });
  const chunked = await service.query('SELECT f FROM m', { db: 'a', chunked: 'true' });
  const empty = await service.query("SELECT f FROM m WHERE t = 'x'", { db: 'a' });
  const packed = await service.query(
    'SELECT f FROM m',
    { db: 'a' },
    { headers: { accept: 'application/x-msgpack' } },
  );
  const csv = await service.query(
    'SELECT f FROM m',
    { db: 'a' },
    { headers: { accept: 'text/csv' } },
  );
  const other = await service.query('SELECT f FROM m', { db: 'b' });

  const messages = [{ level: 'warning', text: expect.stringMatching(/not complete.*\.seg/) }];
  expect(whole.json.results[0]).toMatchObject({ partial: true, messages });
  expect(whole.json.results[0].series[0].values).toEqual([['1970-01-01T00:00:00Z', 1]]);
  expect(chunked.json.results[0]).toMatchObject({ partial: true, messages });
  expect(empty.json.results[0]).toEqual({ statement_id: 0, partial: true, messages });
  expect(packed.text).toContain('the answer is not complete');
  expect(csv.status).toBe(500);
  expect(other.json.results[0]).not.toHaveProperty('partial');
});

test('a database whose index is damaged is neither read nor written, others are, and monitoring does not keep it from starting', async () => {
  const index = join(directory, 'tsdb', 'data', 'index');
  for (const name of readdirSync(index)) {
    const path = join(index, name);
    const bytes = readFileSync(path);
    // The one of `a` was written by the flush, that of `b` holds nothing yet.
    if (bytes.length > 16) writeFileSync(path, bytes.subarray(0, bytes.length - 1));
  }

  service = await startTestService({
    directory,
    config: { monitor: { 'store-enabled': true, 'store-database': 'a' } },
  });
  const written = await service.write('m,t=y f=3 2', { db: 'a' });
  const asked = await service.query('SELECT f FROM m', { db: 'a' });
  const other = await service.write('m,t=y f=3 2', { db: 'b' });
  const answered = await service.query('SELECT count(f) FROM m', { db: 'b' });
  const health = await service.get('/health');
  const dropped = await service.query('DROP DATABASE a; CREATE DATABASE a');
  const again = await service.write('m,t=y f=3 2', { db: 'a' });

  expect([written.status, written.json.error]).toEqual([
    500,
    expect.stringMatching(/the series index has .*tidemark tsdb repair/),
  ]);
  expect(asked.json.results[0].error).toMatch(/the series index has .*tidemark tsdb repair/);
  expect(other.status).toBe(204);
  expect(answered.json.results[0].series[0].values).toEqual([['1970-01-01T00:00:00Z', 2]]);
  expect(health.json).toMatchObject({ status: 'warn' });
  expect(dropped.json.results[0]).not.toHaveProperty('error');
  expect(again.status).toBe(204);
});
