// /query: every form of a request and of a response.
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    config: { http: { 'max-row-limit': 3 }, coordinator: { 'max-filled-windows': 0 } },
  });
  await service.query(
    'CREATE DATABASE d; CREATE RETENTION POLICY other ON d DURATION INF REPLICATION 1',
  );
  await service.write('m f=1 3600000123', { db: 'd', precision: 'u' });
  await service.write('m f=2 1', { db: 'd', rp: 'other' });
  const lines = Array.from({ length: 5 }, (_, i) => `many f=${i} ${i}`).join('\n');
  await service.write(lines, { db: 'd' });
});
afterAll(() => service.close());

const firstRow = (json: { results: { series: { values: unknown[][] }[] }[] }): unknown[] =>
  json.results[0]?.series[0]?.values[0] ?? [];

test.each([
  ['', '1970-01-01T01:00:00.000123Z'],
  ['ns', 3_600_000_123_000],
  ['u', 3_600_000_123],
  ['µ', 3_600_000_123],
  ['ms', 3_600_000],
  ['s', 3600],
  ['m', 60],
  ['h', 1],
  ['ms ', 3_600_000],
  ['nonsense', 3_600_000_123_000],
])('epoch=%s', async (epoch, expected) => {
  const { json } = await service.query('SELECT f FROM m', { db: 'd', epoch });
  expect(firstRow(json)).toEqual([expected, 1]);
});

test('rp names the policy of measurements that name none; an empty one is the default', async () => {
  const of = async (rp: string) =>
    firstRow((await service.query('SELECT f FROM m', { db: 'd', rp })).json)[1];
  expect([await of('other'), await of(''), await of('autogen')]).toEqual([2, 1, 1]);
});

describe('a parameter', () => {
  const q = 'SELECT f FROM m';

  test('with %20 and + for blanks', async () => {
    const plus = await service.get('/query?db=d&q=SELECT+f+FROM+m');
    const percent = await service.get('/query?db=d&q=SELECT%20f%20FROM%20m');
    expect([firstRow(plus.json)[1], firstRow(percent.json)[1]]).toEqual([1, 1]);
  });

  test('that is given twice counts the first time', async () => {
    const answer = await service.get('/query?db=d&db=absent&q=SELECT+f+FROM+m');
    expect(firstRow(answer.json)[1]).toBe(1);
  });

  test('u without p is no credentials, which nobody needs here', async () => {
    expect((await service.get('/query?u=me&db=d&q=SHOW+DATABASES')).status).toBe(200);
  });

  test('of a multipart form: statements of a file, bound values, and async', async () => {
    const form = new FormData();
    form.set('q', new Blob(['CREATE DATABASE from_file;\nSELECT f FROM m WHERE f = $v']), 'q.iql');
    form.set('params', '{"v": 1}');
    form.set('db', 'd');
    const answer = await service.get('/query', { method: 'POST', body: form });
    expect(answer.json.results).toHaveLength(2);
    expect(answer.json.results[1].series[0].values).toHaveLength(1);

    const later = new FormData();
    later.set('q', new Blob(['CREATE DATABASE later; SELECT * INTO later..m FROM d..m']), 'q.iql');
    later.set('async', 'true');
    const accepted = await service.get('/query', { method: 'POST', body: later });
    expect([accepted.status, accepted.text]).toEqual([204, '']);
    await untilDefined('the end of the statements', async () => {
      const { json } = await service.query(q, { db: 'later' });
      return json.results[0].series;
    });
  });

  test.each([
    ['{"v": 1.5}', 'f > $v', 0],
    ['{"v": true}', 'b = $v', 1],
    ['{"v": "x"}', 's = $v', 1],
    ['{"v": 7}', 'i = $v', 1],
    ['{"v": "a"}', 't = $v', 1],
  ])('params %s in %s', async (params, condition, count) => {
    await service.write('bound,t=a f=1,b=true,s="x",i=7i 1', { db: 'd' });
    const { json } = await service.query(`SELECT f FROM bound WHERE ${condition}`, {
      db: 'd',
      params,
    });
    expect(json.results[0].series?.[0].values.length ?? 0).toBe(count);
  });
});

describe('a multipart form', () => {
  const part = '--X\r\nContent-Disposition: form-data; name="q"\r\n\r\n';
  const post = (body: string, type = 'multipart/form-data; boundary=X') =>
    service.get('/query?db=d', { method: 'POST', headers: { 'Content-Type': type }, body });

  test.each([
    ['within a value', `${part}DELETE FROM kept`],
    ['within the line behind a value', `${part}DELETE FROM kept\r`],
    ['before its closing boundary', `${part}DELETE FROM kept\r\n`],
    ['within its closing boundary', `${part}DELETE FROM kept\r\n--X-`],
    ['behind a boundary that is not the closing one', `${part}DELETE FROM kept\r\n--X\r\n`],
    ['within the headers of another part', `${part}DELETE FROM kept\r\n--X\r\nContent-Dis`],
  ])('that is cut %s is refused, and nothing of it executed', async (_, body) => {
    await service.write('kept f=1 1', { db: 'd' });
    const answer = await post(body);
    expect([answer.status, answer.json.error]).toEqual([
      400,
      'multipart form cannot be read: it does not end with its closing boundary --X--; nothing was executed',
    ]);
    const { json } = await service.query('SELECT f FROM kept', { db: 'd' });
    expect(firstRow(json)[1]).toBe(1);
  });

  test('keeps texts in a value that only look like its boundary', async () => {
    const value = 'SELECT f FROM m /* \r\n --X--\r\n--Xa */ -- --X--';
    const answer = await post(`${part}${value}\r\n--X--\r\nbehind it`);
    expect(firstRow(answer.json)[1]).toBe(1);
  });

  test('may have names without quotes, blanks behind boundaries, and line feeds alone', async () => {
    const body = [
      'before it',
      '--a.b+c  ',
      'Content-Disposition: form-data; name=q; filename="name=db.iql"',
      'Content-Type: text/plain',
      '',
      'SELECT f FROM m',
      '--a.b+c--',
    ].join('\n');
    const answer = await post(body, 'multipart/form-data; boundary="a.b+c"');
    expect(firstRow(answer.json)[1]).toBe(1);
  });

  test.each([
    ['its content type names no boundary', `${part}SHOW DATABASES\r\n--X--`, 'multipart/form-data'],
    ['a part has no empty line after its headers', '--X\r\nq\r\n--X--', undefined],
    ['it has more than 100 parts', `${`${part}\r\n`.repeat(101)}--X--`, undefined],
  ])('is refused because %s', async (reason, body, type) => {
    const answer = await post(body, type);
    expect([answer.status, answer.json.error]).toEqual([
      400,
      `multipart form cannot be read: ${reason}; nothing was executed`,
    ]);
  });
});

describe('the answer', () => {
  test('is indented on demand', async () => {
    const { text } = await service.query('SHOW DATABASES', { pretty: 'true' });
    expect(text).toMatch(/^\{\n {4}"results": \[\n {8}\{\n {12}"statement_id": 0,/);
  });

  test('is cut at max-row-limit and says so, unless it comes in chunks', async () => {
    const { json } = await service.query('SELECT f FROM many', { db: 'd' });
    expect(json.results[0].series[0].values).toHaveLength(3);
    expect(json.results[0].series[0].partial).toBe(true);
    const { text } = await service.query('SELECT f FROM many', { db: 'd', chunked: 'true' });
    expect(JSON.parse(text).results[0].series[0].values).toHaveLength(5);
  });

  test('is MessagePack on demand', async () => {
    const response = await fetch(`${service.url}/query?db=d&q=SELECT+f+FROM+m`, {
      headers: { Accept: 'application/x-msgpack' },
    });
    expect(response.headers.get('content-type')).toBe('application/x-msgpack');
    const bytes = Buffer.from(await response.arrayBuffer());
    // A map of one entry whose key is a text of seven bytes.
    expect(bytes.subarray(0, 9)).toEqual(
      Buffer.concat([Buffer.from([0x81, 0xa7]), Buffer.from('results')]),
    );
  });

  test.each([
    ['whole', ''],
    ['in chunks', '&chunked=true'],
  ])('is the same compressed and plain, %s', async (_, how) => {
    const { port } = new URL(service.url);
    const text = encodeURIComponent(
      Array.from({ length: 30 }, () => 'SELECT f FROM many').join(';'),
    );
    const ask = (headers: string): Promise<Buffer> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1');
        const chunks: Buffer[] = [];
        socket.on('data', (chunk: Buffer) => chunks.push(chunk));
        socket.on('end', () => resolve(Buffer.concat(chunks)));
        socket.on('error', reject);
        socket.write(`GET /query?db=d&q=${text}${how} HTTP/1.0\r\n${headers}\r\n`);
      });
    const bodyOf = (answer: Buffer): Buffer => answer.subarray(answer.indexOf('\r\n\r\n') + 4);
    const plain = await ask('');
    const packed = await ask('Accept-Encoding: gzip\r\n');
    expect(packed.toString('latin1')).toContain('Content-Encoding: gzip');
    expect(gunzipSync(bodyOf(packed))).toEqual(bodyOf(plain));
    expect(
      bodyOf(plain)
        .toString()
        .match(/"statement_id"/g),
    ).toHaveLength(30);
  });

  test('waits for a client that does not read', async () => {
    const endless =
      'SELECT mean(f) FROM m WHERE time >= 0 AND time < 2000000000s GROUP BY time(1s) fill(0)';
    const search = new URLSearchParams({
      db: 'd',
      q: endless,
      chunked: 'true',
      chunk_size: '1000',
    });
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.pause();
    socket.write(`GET /query?${search.toString()} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const sent = async (): Promise<number> =>
      (await service.get('/debug/vars')).json.httpd.values.queryRespBytes;

    // It goes on until the buffers of both ends are full, and then not at all, however long the
    // client takes.
    let before = 0;
    await untilDefined('the end of its sending', async () => {
      for (let i = 0; i < 20; i++) await service.get('/ping');
      const now = await sent();
      const hasStopped = now > 0 && now === before;
      before = now;
      return hasStopped ? true : undefined;
    });
    for (let i = 0; i < 100; i++) await service.get('/ping');
    expect(await sent()).toBe(before);
    expect(before).toBeLessThan(64 * 1024 * 1024);

    socket.destroy();
    await untilDefined('the end of the query', async () => {
      const { text } = await service.query('SHOW QUERIES');
      return text.includes('mean') ? undefined : true;
    });
  });
});

describe('a form of two million', () => {
  const count = 2_000_000;
  const post = (body: string | URLSearchParams): Promise<Response> =>
    fetch(`${service.url}/query`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });

  test.each([
    ['parameters', 'a=1&'.repeat(count)],
    ['empty parameters', '&'.repeat(count)],
    ['bound values', new URLSearchParams({ q: 'SELECT 1', params: `[${'1,'.repeat(count)}1]` })],
  ])('%s is refused, with the setting', async (_, body) => {
    const answer = await post(body);

    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('max-parameters limit exceeded: (1000)');
  });

  test('characters of one value is no such form', async () => {
    const params = JSON.stringify({ a: ',:"'.repeat(count / 2) });
    const answer = await post(new URLSearchParams({ q: 'SHOW DATABASES', params }));

    expect(answer.status).toBe(200);
  });
});

test.each([
  ['lists', '['.repeat(100_000)],
  ['objects', '{"a":'.repeat(900)],
  ['lists that end', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
])('params of %s within one another are refused, with the limit', async (_, params) => {
  const body = new URLSearchParams({ q: 'SHOW DATABASES', params });
  const answer = await fetch(`${service.url}/query`, { method: 'POST', body });

  expect([answer.status, await answer.json()]).toEqual([
    400,
    { error: 'error parsing query parameters: JSON nests deeper than 200 levels' },
  ]);
});
