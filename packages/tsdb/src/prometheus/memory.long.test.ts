// Requests of Prometheus use the shared memory budgets of queries and bodies.
import { randomBytes } from 'node:crypto';

import { eventually, metricValue } from '@tidemark/testkit';
import { compressSync, uncompressSync } from 'snappy';
import { afterEach, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';
import { writeReadRequest, writeWriteRequest } from './messages.ts';

let service: TestService;
afterEach(() => service.close());

async function start(config: Record<string, Record<string, unknown>>): Promise<void> {
  service = await startTestService({ config });
  await service.query('CREATE DATABASE p');
}

const post = (path: string, bytes: Uint8Array): Promise<Response> =>
  fetch(`${service.url}${path}?db=p`, { method: 'POST', body: compressSync(Buffer.from(bytes)) });

const read = (): Promise<Response> =>
  post(
    '/api/v1/prom/read',
    writeReadRequest([
      { startMs: 0n, endMs: 10_000n, matchers: [{ kind: '=', name: '__name__', value: 'm' }] },
    ]),
  );

async function writePoints(count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, i) => `m value=${i} ${i}`);
  for (let at = 0; at < count; at += 50_000) {
    await service.write(rows.slice(at, at + 50_000).join('\n'), { db: 'p' });
  }
}

type Usage = Readonly<Record<'bytes' | 'waited', number>>;

/** The used part of a budget at one moment. */
async function usage(budget: string): Promise<Usage> {
  const { text } = await service.get('/metrics');
  const read = (name: string): number =>
    metricValue(text, `tidemark_tsdb_memory_budget_${name}{budget="${budget}"}`);
  return { bytes: read('bytes'), waited: read('waited_total') };
}

test('reads that need much are all answered', async () => {
  await start({ coordinator: { 'total-query-memory-limit': '128m' } });
  await writePoints(200_000);

  const answers = Array.from({ length: 4 }, read);
  for (const answer of answers) {
    const { status } = await answer;
    expect(status).toBe(200);
  }
  const { bytes, waited } = await usage('query_growth');
  expect([bytes, waited > 0]).toEqual([0, true]);
  expect(await usage('query_beginning')).toMatchObject({ bytes: 0 });
});

test('an answer is memory of its query until the client has read it', async () => {
  await start({});
  const rows = Array.from(
    { length: 1000 },
    (_, i) => `m,t=${randomBytes(10_000).toString('hex')} value=1 ${i}`,
  );
  for (let at = 0; at < rows.length; at += 100) {
    await service.write(rows.slice(at, at + 100).join('\n'), { db: 'p' });
  }
  // 20 MB: more than what the system takes of an answer that is not read.
  const answer = await read();
  const unread = await usage('query_growth');

  const { length } = Buffer.from(await answer.arrayBuffer());

  expect(unread.bytes).toBeGreaterThan(0);
  expect(length).toBeGreaterThan(15_000_000);
  await eventually('its memory is given back', async () =>
    (await usage('query_growth')).bytes === 0 ? true : undefined,
  );
});

test('long labels are held once: a read may have nearly as many as a query may hold', async () => {
  await start({ coordinator: { 'query-memory-limit': '12m' } });
  const tag = randomBytes(10_000).toString('hex');
  const rows = Array.from(
    { length: 500 },
    (_, i) => `m,t=${String(i).padEnd(20_000, tag)} value=${i} 1`,
  );
  await service.write(rows.join('\n'), { db: 'p' });

  const answer = await read();
  expect(answer.status).toBe(200);
  const bytes = uncompressSync(Buffer.from(await answer.arrayBuffer())) as Buffer;

  for (let i = 0; i < 500; i++) expect(bytes.includes(String(i).padEnd(20_000, tag))).toBe(true);
});

test('a read that needs more than a query may hold is refused with the setting', async () => {
  await start({ coordinator: { 'query-memory-limit': '4m' } });
  await writePoints(200_000);

  const answer = await read();

  expect(answer.status).toBe(500);
  expect(await answer.text()).toContain('query-memory-limit');
});

test.each(['max-select-point', 'max-select-series'])(
  'a read is executed as a query is: %s holds for it',
  async (setting) => {
    await start({ coordinator: { [setting]: 2 } });
    await service.write('m,host=a value=1 1\nm,host=b value=2 2', { db: 'p' });
    const { status } = await read();
    await service.write('m,host=c value=3 3', { db: 'p' });

    const answer = await read();

    expect(status).toBe(200);
    expect(answer.status).toBe(500);
    expect(await answer.text()).toContain(`${setting} limit exce`);
  },
);

test('a write of many samples is decoded and written in portions, of all or of none', async () => {
  await start({});
  const samples = Array.from({ length: 25_000 }, (_, i) => ({ value: i, timestampMs: BigInt(i) }));
  const body = writeWriteRequest([
    { labels: [{ name: '__name__', value: 'm' }], samples },
    { labels: [{ name: '__name__', value: 'n' }], samples: samples.slice(0, 10) },
  ]);

  const cut = await post('/api/v1/prom/write', body.subarray(0, body.length - 3));
  const refused = await service.query('SELECT count(value) FROM m, n', { db: 'p' });
  const whole = await post('/api/v1/prom/write', body);
  const counted = await service.query('SELECT count(value) FROM m, n', { db: 'p' });

  expect([cut.status, await cut.json()]).toEqual([
    400,
    { error: 'the body is not the expected protobuf message' },
  ]);
  expect(refused.json.results[0].series).toBeUndefined();
  expect(whole.status).toBe(204);
  const { series } = counted.json.results[0];
  expect(series.map(({ values }: { values: unknown[][] }) => values[0]?.[1])).toEqual([25_000, 10]);
  const { json } = await service.get('/debug/vars');
  expect(json.write.values.req).toBe(3);
});

test('answers of large reads are given back', async () => {
  await start({});
  const randomHex = randomBytes(10_000).toString('hex');
  const rows = Array.from(
    { length: 200 },
    (_, i) => `m,t=${String(i).padEnd(20_000, randomHex)} value=1 1`,
  );
  await service.write(rows.join('\n'), { db: 'p' });
  const readMany = async (count: number): Promise<number> => {
    for (let i = 0; i < count; i++) {
      const answer = await read();
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
    globalThis.gc?.();
    return process.memoryUsage.rss();
  };
  const before = await readMany(10);

  // 4 MB each.
  const after = await readMany(150);

  // Half of them; what an allocator keeps does not grow with their number.
  expect(after - before).toBeLessThan(300 * (1 << 20));
});
