import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestService } from './testing.ts';
import type { TestService } from './testing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

describe('ping', () => {
  test.each(['GET', 'HEAD'])('%s answers 204 with version and request id', async (method) => {
    const answer = await service.get('/ping', { method });
    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
    expect(answer.headers.get('x-tsdb-version')).toMatch(/^\d+\.\d+\.\d+$/);
    expect(answer.headers.get('x-influxdb-version')).toMatch(/^1\.8\./);
    expect(answer.headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  test('echoes a request id', async () => {
    const answer = await service.get('/ping', { headers: { 'X-Request-Id': 'abc' } });
    expect(answer.headers.get('request-id')).toBe('abc');
    expect(answer.headers.get('x-request-id')).toBe('abc');
  });

  test('tells the version when asked', async () => {
    const answer = await service.get('/ping?verbose=true');
    expect([answer.status, answer.json]).toEqual([200, { version: '1.8.10' }]);
  });
});

describe('paths and methods', () => {
  test('an unknown path is 404', async () => {
    const answer = await service.get('/nope?x=1');
    expect([answer.status, answer.json]).toEqual([404, { error: '404 page not found' }]);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('x-tsdb-version')).toBeTruthy();
  });

  test.each([
    ['PUT', '/query', 'GET, POST, OPTIONS'],
    ['GET', '/write', 'POST, OPTIONS'],
    ['DELETE', '/health', 'GET, HEAD, OPTIONS'],
  ])('%s %s is 405 and names what is allowed', async (method, path, allow) => {
    const answer = await service.get(path, { method });
    expect([answer.status, answer.text]).toEqual([405, '{"error":"Method Not Allowed"}\n']);
    expect(answer.headers.get('allow')).toBe(allow);
  });

  test('OPTIONS names the methods of an endpoint', async () => {
    const answer = await service.get('/query', { method: 'OPTIONS' });
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'GET, POST, OPTIONS']);
  });

  test.each(['/status', '/health', '/metrics', '/debug/vars', '/openapi.json'])(
    '%s answers',
    async (path) => {
      expect((await service.get(path)).status).toBeLessThan(300);
    },
  );

  test('the API document lists every endpoint', async () => {
    const { json } = await service.get('/openapi.json');
    expect(Object.keys(json.paths)).toEqual(
      expect.arrayContaining(['/write', '/query', '/ping', '/api/v2/write']),
    );
  });
});

describe('statements', () => {
  test('databases are made, shown and dropped', async () => {
    expect((await service.query('CREATE DATABASE made')).text).toBe(
      '{"results":[{"statement_id":0}]}\n',
    );
    expect((await service.query('SHOW DATABASES')).json.results[0].series[0].values).toContainEqual(
      ['made'],
    );
    await service.query('DROP DATABASE made');
    expect((await service.query('SHOW DATABASES')).text).not.toContain('made');
  });

  test('a statement that changes something by GET runs with a warning', async () => {
    const answer = await service.get('/query?q=CREATE+DATABASE+byget');
    expect(answer.json.results[0].messages).toEqual([
      {
        level: 'warning',
        text: "deprecated use of 'CREATE DATABASE byget' in a read only context, please use a POST request instead",
      },
    ]);
  });

  test.each([
    ['', 400, '{"error":"missing required parameter \\"q\\""}\n'],
    [';', 200, '{}\n'],
    ['SELEC', 400, /^\{"error":"error parsing query: found SELEC, expected SELECT/],
  ])('q=%j', async (q, status, text) => {
    const answer = await service.query(q);
    expect(answer.status).toBe(status);
    expect(answer.text).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
  });

  test('a failing statement keeps the others from running', async () => {
    const answer = await service.query('SHOW GRANTS FOR nobody; CREATE DATABASE never');
    expect(answer.json.results).toEqual([
      { statement_id: 0, error: 'user not found' },
      { statement_id: 1, error: 'not executed' },
    ]);
  });
});

describe('writes', () => {
  beforeAll(async () => {
    await service.query('CREATE DATABASE w');
  });

  test('written points are read back', async () => {
    expect((await service.write('m,t=a f=1.5,i=2i 1000', { db: 'w' })).status).toBe(204);
    const answer = await service.query('SELECT * FROM m', { db: 'w', epoch: 'ns' });
    expect(answer.json.results[0].series).toEqual([
      { name: 'm', columns: ['time', 'f', 'i', 't'], values: [[1000, 1.5, 2, 'a']] },
    ]);
  });

  test.each([
    [{}, 'm f=1', 400, 'database is required'],
    [{ db: 'nosuch' }, 'bad', 404, 'database not found: nosuch'],
    [{ db: 'w', rp: 'nosuch' }, 'm f=1', 500, 'retention policy not found: nosuch'],
    [{ db: 'w', consistency: 'foo' }, 'm f=1', 400, 'invalid consistency level'],
    [{ db: 'w' }, 'm f=1 abc', 400, "unable to parse 'm f=1 abc': bad timestamp"],
    [
      { db: 'w' },
      'p f=1 1\nbad\n',
      400,
      "partial write: unable to parse 'bad': missing fields dropped=0",
    ],
  ])('%j with %j is refused', async (parameters, lines, status, error) => {
    const answer = await service.write(lines, parameters as Record<string, string>);
    expect([answer.status, answer.json]).toEqual([status, { error }]);
    expect(answer.headers.get('x-influxdb-error')).toBe(error);
  });

  test('a conflict of types stands alone where nothing else was written, framed where something was', async () => {
    const conflict =
      'field type conflict: input field f on measurement kept is type string, already exists as type float';
    await service.write('kept f=1 1', { db: 'w' });
    const alone = await service.write('kept f="x" 2', { db: 'w' });
    expect([alone.status, alone.json]).toEqual([400, { error: conflict }]);
    const partly = await service.write('kept f="x" 2\nkept f=3 3', { db: 'w' });
    expect([partly.status, partly.json]).toEqual([
      400,
      { error: `partial write: ${conflict} dropped=1` },
    ]);
    const read = await service.query('SELECT f FROM kept', { db: 'w', epoch: 'ns' });
    expect(read.json.results[0].series[0].values).toEqual([
      [1, 1],
      [3, 3],
    ]);
  });

  test.each([
    ['1', '2i', 'int64', 'float'],
    ['1i', '2', 'float', 'int64'],
    ['1i', 't', 'boolean', 'int64'],
  ])('a conflict of %s and %s calls integers int64', async (first, second, is, was) => {
    await service.query('DROP MEASUREMENT typed', { db: 'w' });
    await service.write(`typed f=${first} 1`, { db: 'w' });

    expect((await service.write(`typed f=${second} 2`, { db: 'w' })).json.error).toBe(
      `field type conflict: input field f on measurement typed is type ${is}, already exists as type ${was}`,
    );
  });

  test.each(['d', 'sec', 'us', 'S', ' s'])(
    'the unknown precision `%s` is refused, unless it may mean nanoseconds',
    async (precision) => {
      const lines = 'unit f=1 7';
      const refused = await service.write(lines, { db: 'w', precision });
      expect([refused.status, refused.json]).toEqual([
        400,
        { error: `invalid precision "${precision}" (use n, u, ms, s, m or h)` },
      ]);
      const nothing = await service.query('SELECT f FROM unit', { db: 'w' });
      expect(nothing.json).toEqual({ results: [{ statement_id: 0 }] });

      const lax = await startTestService({ config: { http: { 'strict-precision': false } } });
      await lax.query('CREATE DATABASE w');
      expect((await lax.write(lines, { db: 'w', precision })).status).toBe(204);
      const read = await lax.query('SELECT f FROM unit', { db: 'w', epoch: 'ns' });
      expect(read.json.results[0].series[0].values).toEqual([[7, 1]]);
      await lax.close();
    },
  );

  test('the good lines of a partial write are kept and the bad ones listed when asked', async () => {
    const answer = await service.write('q f=1 1\nbad\nq f=x 2', { db: 'w', errors: 'detailed' });
    expect(answer.json.written).toBe(1);
    expect(answer.json.rejected).toEqual([
      { line: 2, text: 'bad', reason: 'missing fields' },
      { line: 3, text: 'q f=x 2', reason: 'invalid boolean' },
    ]);
    const { json } = await service.get('/debug/rejected');
    expect(json.counts['127.0.0.1']).toBeGreaterThanOrEqual(2);
  });

  test('the detailed answer lists what storage refused too: types, and points that are too old', async () => {
    await service.query('CREATE RETENTION POLICY day ON w DURATION 1d REPLICATION 1');
    const now = BigInt(Date.now()) * 1_000_000n;
    await service.write(`typed f=1 ${now}`, { db: 'w', rp: 'day' });
    const answer = await service.write(
      `typed f="text" ${now}\ntyped f=2 ${now + 1n}\ntyped f=3 1\nbroken`,
      { db: 'w', rp: 'day', errors: 'detailed' },
    );
    expect([answer.status, answer.json.written]).toEqual([400, 1]);
    const reasons = answer.json.rejected
      .toSorted((a: { line: number }, b: { line: number }) => a.line - b.line)
      .map(({ line, reason }: { line: number; reason: string }) => [line, reason]);
    expect(reasons).toEqual([
      [1, expect.stringContaining('is type string, already exists as type float')],
      [3, expect.stringContaining('retention policy')],
      [4, 'missing fields'],
    ]);
  });

  test('the log of refused lines can be asked by source and database, newest last', async () => {
    await service.query('CREATE DATABASE other');
    await service.write('first\nsecond\nthird', { db: 'other' });
    const ask = async (search: string) =>
      (await service.get(`/debug/rejected?${search}`)).json.lines.map(
        ({ text, lineNumber }: { text: string; lineNumber: number }) => [lineNumber, text],
      );
    expect(await ask('database=other')).toEqual([
      [1, 'first'],
      [2, 'second'],
      [3, 'third'],
    ]);
    expect(await ask('database=other&limit=1')).toEqual([[3, 'third']]);
    expect(await ask('database=other&source=10.0.0.1')).toEqual([]);
    expect(await ask('database=other&source=127.0.0.1')).toHaveLength(3);
    expect((await service.get('/debug/rejected?limit=x')).status).toBe(400);
  });

  test('an empty body is fine', async () => {
    expect((await service.write('', { db: 'w' })).status).toBe(204);
  });

  test('buckets name database and policy', async () => {
    const write = (bucket: string) =>
      service.get(`/api/v2/write?bucket=${bucket}&precision=us`, {
        method: 'POST',
        body: 'v f=1 5',
      });
    expect((await write('w')).status).toBe(204);
    expect((await write('w/autogen')).status).toBe(204);
    expect((await write('nosuch')).status).toBe(404);
    expect((await write('')).json.error).toMatch(/bucket name "" is missing a slash/);
  });
});
