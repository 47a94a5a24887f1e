import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestService, untilDefined } from '../testing.ts';
import type { TestService } from '../testing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    config: {
      http: { 'max-body-size': 1000, headers: { 'X-Custom': 'yes' } },
      coordinator: { 'query-timeout': '0s' },
    },
  });
  await service.query('CREATE DATABASE d');
  const lines = Array.from({ length: 40 }, (_, i) => `m,t=${i % 2} f=${i} ${i}`).join('\n');
  await service.write(lines, { db: 'd' });
});
afterAll(() => service.close());

/** Sends bytes as they are and reads until the other side closes. */
function raw(text: string, encoding: BufferEncoding = 'utf8'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString(encoding)));
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
    socket.write(text);
  });
}

describe('bodies', () => {
  test('gzip is unpacked', async () => {
    const body = gzipSync('z f=1 1');
    const headers = { 'Content-Encoding': 'gzip' };
    expect((await service.write('', { db: 'd' }, { body, headers })).status).toBe(204);
  });

  test.each([
    ['cut off', gzipSync('z f=1 1').subarray(0, 15), 'unexpected EOF'],
    ['no gzip at all', Buffer.from('z f=1 1'), 'gzip: invalid header'],
  ])('gzip that is %s is refused', async (_, body, error) => {
    const headers = { 'Content-Encoding': 'gzip' };
    const answer = await service.write('', { db: 'd' }, { body, headers });
    expect([answer.status, answer.json]).toEqual([400, { error }]);
  });

  test('a declared length over the limit is refused before it is sent', async () => {
    const answer = await raw(
      'POST /write?db=d HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('{"error":"Request Entity Too Large"}');
  });

  test('a client that sends too much reads the answer before it is done', async () => {
    const answer = await service.write('x'.repeat(3_000_000), { db: 'd' });
    expect([answer.status, answer.json]).toEqual([413, { error: 'Request Entity Too Large' }]);
  });

  test('a body without end is refused at the limit', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const chunk = `3e8\r\n${'x'.repeat(1000)}\r\n`;
    socket.write(
      `POST /write?db=d HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`,
    );
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(first.toString()).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  test('gzip that unpacks beyond the limit is refused', async () => {
    const body = gzipSync('#'.repeat(100_000));
    const headers = { 'Content-Encoding': 'gzip' };
    expect((await service.write('', { db: 'd' }, { body, headers })).status).toBe(413);
  });

  test.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded', ''])(
    'line protocol under content type %j is read as it is',
    async (type) => {
      const headers = { 'Content-Type': type };
      expect((await service.write('ct f=1 1', { db: 'd' }, { headers })).status).toBe(204);
    },
  );
});

describe('clients', () => {
  test('HTTP/1.0 without any header', async () => {
    const answer = await raw(
      'POST /write?db=d&precision=s HTTP/1.0\r\nContent-Length: 7\r\n\r\nm f=1 1',
    );
    expect(answer).toMatch(/^HTTP\/1\.[01] 204 /);
  });

  test('Expect: 100-continue', async () => {
    const answer = await raw(
      'POST /write?db=d HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 7\r\nConnection: close\r\n\r\nm f=1 1',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 204 /);
  });

  test.each([
    ['nonsense', 'NONSENSE\r\n\r\n', 400, /^malformed request: /],
    [
      'no Host header',
      'GET /ping HTTP/1.1\r\nConnection: close\r\n\r\n',
      400,
      /missing Host header/,
    ],
    ['bytes beyond ASCII in the URL', 'GET /query?q=µ HTTP/1.1\r\n\r\n', 400, /written as %/],
    [
      'a wrong length',
      'POST /write?db=d HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n',
      400,
      /^malformed request: /,
    ],
    ['a header without end', `GET /${'a'.repeat(1 << 20)} HTTP/1.1\r\n`, 431, /too large/],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: localhost\r\n\r\n', 405, /Method Not Allowed/],
  ])('%s is answered like everything else, and harms nobody', async (_, text, status, error) => {
    const [head = '', body = ''] = (await raw(text)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    for (const name of ['Request-Id', 'X-Tsdb-Version', 'X-Custom', 'Date']) {
      expect(head).toMatch(new RegExp(`^${name}: .+$`, 'm'));
    }
    expect(head).toMatch(/^Content-Type: application\/json$/m);
    expect(JSON.parse(body).error).toMatch(error);
    expect((await service.get('/ping')).status).toBe(204);
  });

  test('configured headers are on every answer', async () => {
    for (const path of ['/ping', '/nope', '/health', '/query?q=x']) {
      expect((await service.get(path)).headers.get('x-custom')).toBe('yes');
    }
  });
});

describe('answers of /query', () => {
  const q = "SELECT f FROM m WHERE t = '0'";

  test('chunks are documents on lines of their own', async () => {
    const answer = await service.query(q, {
      db: 'd',
      chunked: 'true',
      chunk_size: '8',
      epoch: 'ns',
    });
    const documents = answer.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(documents.map((d) => d.results[0].series[0].values.length)).toEqual([8, 8, 4]);
    expect(documents.map((d) => d.results[0].partial)).toEqual([true, true, undefined]);
  });

  test('chunked=5 means five', async () => {
    const answer = await service.query(q, { db: 'd', chunked: '5' });
    expect(answer.text.trim().split('\n')).toHaveLength(4);
  });

  test('gzip on demand, of what does not fit into one packet', async () => {
    const ask = (text: string, accepted: string): Promise<Response> =>
      fetch(`${service.url}/query?${new URLSearchParams({ db: 'd', q: text })}`, {
        headers: { 'Accept-Encoding': accepted },
      });
    const long = Array.from({ length: 4 }, () => q).join('; ');

    const packed = await ask(long, 'gzip');
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.headers.get('content-length')).toMatch(/^\d+$/);
    expect(JSON.parse(await packed.text()).results[3].series[0].values).toHaveLength(20);

    const plain = await Promise.all([ask(long, 'gzip;q=0'), ask(long, 'identity'), ask(q, 'gzip')]);
    for (const answer of plain) {
      expect(answer.headers.get('content-encoding')).toBeNull();
      expect(JSON.parse(await answer.text()).results[0].series[0].values).toHaveLength(20);
    }
  });

  test('a lone chunk that fits into one packet has a length, and is not compressed', async () => {
    const parameters = { db: 'd', q, chunked: 'true', diagnostics: 'true' };
    const answer = await fetch(`${service.url}/query?${new URLSearchParams(parameters)}`, {
      headers: { 'Accept-Encoding': 'gzip' },
    });
    const text = await answer.text();

    expect(answer.headers.get('content-encoding')).toBeNull();
    expect(answer.headers.get('content-length')).toBe(String(text.length));
    expect(JSON.parse(text).results[0].series[0].values).toHaveLength(20);
  });

  test('every compressed chunk can be read when it has come', async () => {
    const path = `/query?${new URLSearchParams({ db: 'd', q, chunked: '5' })}`;
    const answer = await raw(`GET ${path} HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n`, 'latin1');
    // Where the compressor was flushed, these bytes stand; the fourth chunk may be the end as well.
    expect(answer.split('\0\0\xff\xff').length).toBeGreaterThanOrEqual(1 + 3);
  });

  test.each([
    ['application/csv', 'application/csv', /^name,tags,time,f\nm,,0,0\n/],
    ['text/csv', 'text/csv', /^name,tags,time,f\n/],
    ['text/csv, application/json', 'application/json', /^\{"results"/],
    ['text/plain', 'application/json', /^\{"results"/],
    ['*/*', 'application/json', /^\{"results"/],
  ])('Accept: %s', async (accept, type, text) => {
    const answer = await service.query(q, { db: 'd' }, { headers: { Accept: accept } });
    expect(answer.headers.get('content-type')).toBe(type);
    expect(answer.text).toMatch(text);
  });

  test('errors for readers of CSV are CSV', async () => {
    const answer = await service.query('SELECT', {}, { headers: { Accept: 'text/csv' } });
    expect([answer.status, answer.text]).toEqual([
      400,
      'error\n"error parsing query: found EOF, expected identifier, string, number, bool at line 1, char 8"\n',
    ]);
  });

  test('parameters may come in a form, in a file, or as the body', async () => {
    const form = await service.get('/query', {
      method: 'POST',
      body: new URLSearchParams({ db: 'd', q, epoch: 'ms' }),
    });
    const multipart = new FormData();
    multipart.set('q', new Blob([`${q};${q}`]), 'file.txt');
    const file = await service.get('/query?db=d', { method: 'POST', body: multipart });
    const body = await service.get('/query?db=d', {
      method: 'POST',
      body: q,
      headers: { 'Content-Type': 'application/vnd.influxql' },
    });
    const inUrl = await service.get(`/query?${new URLSearchParams({ db: 'd', q })}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
    });
    expect([form, file, body, inUrl].map((a) => a.json.results.length)).toEqual([1, 2, 1, 1]);
    expect(form.json.results[0].series[0].values[1]).toEqual([0, 2]);
  });

  test('bind parameters keep the digits of integers', async () => {
    await service.write('big i=9007199254740993i 1', { db: 'd' });
    const answer = await service.query('SELECT i FROM big WHERE i = $v', {
      db: 'd',
      params: '{"v": 9007199254740993}',
    });
    expect(answer.text).toContain('9007199254740993');
    const bad = await service.query('SELECT i FROM big', { db: 'd', params: 'nope' });
    expect(bad.json.error).toMatch(/^error parsing query parameters: /);
  });

  test('async answers at once and the statement runs', async () => {
    const answer = await service.query('CREATE DATABASE later', { async: 'true' });
    expect([answer.status, answer.text]).toEqual([204, '']);
    await untilDefined('the database', async () =>
      (await service.query('SHOW DATABASES')).text.includes('later') ? true : undefined,
    );
  });

  test('failures of an async request are logged', async () => {
    const failing = 'SELECT f FROM absent..m';
    expect((await service.query(failing, { async: 'true' })).status).toBe(204);
    const line = await untilDefined('the line', async () =>
      service.logged.find((each) => each.includes('asynchronous statement failed')),
    );
    expect(JSON.parse(line)).toMatchObject({
      level: 40,
      err: { message: 'database not found: absent' },
    });
  });
});

test('statements that change something are in the log with who sent them, without passwords', async () => {
  await service.query("CREATE USER logged WITH PASSWORD 'hush'; DROP USER logged; SHOW USERS");
  const audited = service.logged
    .map((line) => JSON.parse(line))
    .filter(({ audit, statement }) => audit === true && String(statement).includes('logged'));
  expect(audited.map(({ statement, address }) => [statement, address])).toEqual([
    ['CREATE USER logged WITH PASSWORD [REDACTED]', '127.0.0.1'],
    ['DROP USER logged', '127.0.0.1'],
  ]);
  expect(service.logged.join('')).not.toContain('hush');
});

test('statements that change something are kept over a restart and can be asked for', async () => {
  const kept = await startTestService();
  await kept.query("CREATE DATABASE house; CREATE USER ann WITH PASSWORD 'hush'; SHOW USERS");
  await kept.get('/query?q=x', { headers: { Host: 'attacker.example' } });
  await kept.stop();
  const again = await startTestService({ directory: kept.directory });
  const { json, text } = await again.get('/api/audit?text=create');
  expect(json.isKept).toBe(true);
  expect(
    json.entries.map(({ event, statement, address }: Record<string, string>) => [
      event,
      statement,
      address,
    ]),
  ).toEqual([
    ['statement', 'CREATE USER ann WITH PASSWORD [REDACTED]', '127.0.0.1'],
    ['statement', 'CREATE DATABASE house', '127.0.0.1'],
  ]);
  expect(text).not.toContain('hush');
  expect((await again.get('/api/audit?limit=x')).status).toBe(400);
  await again.close();

  const without = await startTestService({ config: { http: { 'audit-keep-size': 0 } } });
  await without.query('CREATE DATABASE house');
  expect((await without.get('/api/audit')).json).toEqual({ isKept: false, entries: [] });
  await without.close();
});

test('queries that took long are kept, with who sent them', async () => {
  const slow = await startTestService({ config: { coordinator: { 'keep-queries-after': '1us' } } });
  await slow.query("CREATE USER ann WITH PASSWORD 'hush'");
  await slow.query('SHOW DATABASES');
  const { json } = await slow.get('/debug/slow-queries');
  expect(json.queries).toMatchObject([
    { text: 'SHOW DATABASES', user: '', address: '127.0.0.1', isKilled: false },
    { text: 'CREATE USER ann WITH PASSWORD [REDACTED]' },
  ]);
  expect(json.queries[0].durationMs).toBeGreaterThan(0);
  await slow.close();
  expect((await service.get('/debug/slow-queries')).json).toEqual({ afterMs: 1000, queries: [] });
});

test('the access log has a line per request and no query strings', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'tidemark-access-'));
  const path = join(directory, 'access.log');
  const logging = await startTestService({ config: { http: { 'access-log-path': path } } });
  await logging.get('/query?q=SHOW+DATABASES&u=me&p=hush');
  await logging.get('/nope', { headers: { 'X-Request-Id': 'mine' } });
  await logging.close();
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^127\.0\.0\.1 - - \[.*Z\] "GET \/query" 200 [0-9a-f-]{36} [\d.]+ms$/),
    expect.stringMatching(/"GET \/nope" 404 mine /),
  ]);
  rmSync(directory, { recursive: true });
});

test('more writes than allowed at once wait, and are refused when the queue is full', async () => {
  const narrow = await startTestService({
    config: { http: { 'max-concurrent-write-limit': 1, 'max-enqueued-write-limit': 1 } },
  });
  try {
    await narrow.query('CREATE DATABASE d');
    const open = connect(Number(new URL(narrow.url).port), '127.0.0.1');
    let answer = '';
    open.on('data', (chunk) => (answer += chunk.toString()));
    // The first one occupies the only place until its body is complete.
    open.write('POST /write?db=d HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\nm f=');
    await untilDefined('the first write', async () => {
      const { json } = await narrow.get('/debug/vars');
      return json.httpd.values.writeReqActive === 1 ? true : undefined;
    });
    const second = narrow.write('m f=2 2', { db: 'd' });
    await untilDefined('the second write', async () => {
      const { json } = await narrow.get('/debug/vars');
      return json.httpd.values.writeReqActive === 2 ? true : undefined;
    });
    const third = await narrow.write('m f=3 3', { db: 'd' });
    expect([third.status, third.text]).toEqual([503, 'request throttled, queue full\n']);
    open.write('1 1');
    expect((await second).status).toBe(204);
    expect(answer).toMatch(/^HTTP\/1\.1 204/);
    open.destroy();
  } finally {
    await narrow.close();
  }
});

describe('profiles', () => {
  // A .cpuprofile file has the type `Profiler.Profile` of the DevTools protocol.
  test('a CPU profile has nodes, and a sample for every step of time', async () => {
    const { json, headers } = await service.get('/debug/pprof/profile?seconds=0.05');
    expect(headers.get('content-disposition')).toBe('attachment; filename="tidemark.cpuprofile"');
    type Node = { id: number; callFrame: object; children?: number[] };
    const ids = new Set(json.nodes.map(({ id }: Node) => id));
    const named = json.nodes.flatMap(({ children = [] }: Node) => children).concat(json.samples);
    expect(named.filter((id: number) => !ids.has(id))).toEqual([]);
    expect(Object.keys(json.nodes[0].callFrame).toSorted()).toEqual(
      ['columnNumber', 'functionName', 'lineNumber', 'scriptId', 'url'].toSorted(),
    );
    expect(json.samples.length).toBe(json.timeDeltas.length);
    expect(json.endTime).toBeGreaterThan(json.startTime);
  });

  test('a heap snapshot is a file for the same tools', async () => {
    // Taken once, in tests/e2e/executable.test.ts: here it would hold the test runner too.
    const { headers, status } = await service.get('/debug/pprof/heap', { method: 'HEAD' });
    expect([status, headers.get('content-disposition')]).toEqual([
      200,
      'attachment; filename="tidemark.heapsnapshot"',
    ]);
  });

  test('seconds are bounded', async () => {
    expect((await service.get('/debug/pprof/profile?seconds=301')).status).toBe(400);
  });
});

describe('requests by user and address', () => {
  test('are counted while somebody looks', async () => {
    const watch = service.get('/debug/requests?seconds=1');
    const { json } = await untilDefined('counts', async () => {
      await service.query('SHOW DATABASES');
      await service.write('m f=1 1', { db: 'd' });
      return Promise.race([watch, undefined]);
    });
    expect(json['127.0.0.1'].queries).toBeGreaterThan(0);
    expect(json['127.0.0.1'].writes).toBeGreaterThan(0);
  });

  test('go by the name that a client gives, although nobody checks it', async () => {
    const watch = service.get('/debug/requests?seconds=1');
    const { json } = await untilDefined('counts', async () => {
      await service.get('/query?q=SHOW+DATABASES&u=ana&p=pw');
      return Promise.race([watch, undefined]);
    });
    expect(json['ana:127.0.0.1'].queries).toBeGreaterThan(0);
  });

  test.each([
    ['x', 'seconds must be a whole number, not "x"'],
    ['86401', 'exceeded maximum interval time: 86401s > 6h'],
  ])('seconds=%s is refused', async (seconds, error) => {
    const answer = await service.get(`/debug/requests?seconds=${seconds}`);
    expect([answer.status, answer.json]).toEqual([400, { error }]);
  });
});

describe('parameters that an endpoint does not have', () => {
  test.each([
    [
      '/query?q=SHOW+DATABASES&epcoh=s',
      '299 - "unknown parameter epcoh is ignored; did you mean epoch?"',
    ],
    ['/query?q=SHOW+DATABASES&zzzzzzzz=1', '299 - "unknown parameter zzzzzzzz is ignored"'],
    ['/query?q=SHOW+DATABASES&a%22b%0Ac=1', '299 - "unknown parameter a?b?c is ignored"'],
    ['/query?q=SHOW+DATABASES&db=d&u=x&p=y&pretty=true&epoch=s', null],
  ])('GET %s', async (path, warning) => {
    const answer = await service.get(path);

    expect([answer.status, answer.headers.get('warning')]).toEqual([200, warning]);
  });

  test('of a write and of a form are named, too', async () => {
    const write = await service.get('/write?db=d&percision=s', { method: 'POST', body: 'w f=1 1' });
    expect([write.status, write.headers.get('warning')]).toEqual([
      204,
      '299 - "unknown parameter percision is ignored; did you mean precision?"',
    ]);
    const form = await service.get('/query', {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'q=SHOW+DATABASES&chuncked=true',
    });
    expect(form.headers.get('warning')).toContain('did you mean chunked?');
  });
});

test('an error of a statement is a table of a CSV answer', async () => {
  await service.write('csv f=1 1', { db: 'd' });
  const q = 'SELECT f FROM csv; SELECT f FROM "no, such"..csv; SELECT f FROM csv';
  const answer = await service.get(`/query?db=d&q=${encodeURIComponent(q)}`, {
    headers: { Accept: 'application/csv' },
  });

  expect(answer.text).toBe(
    'name,tags,time,f\ncsv,,1,1\n\nerror\n"database not found: no, such"\n\nerror\n"not executed"\n',
  );
});

test.each([
  ['1e+22', 'f', [[1, 1]]],
  ['2e0', 'f', [[1, 1]]],
  ['5E-1', 'f', []],
])('a bind parameter %s is a number', async (value, field, rows) => {
  await service.write('bound f=1 1', { db: 'd' });
  const answer = await service.query(`SELECT ${field} FROM bound WHERE ${field} < $v`, {
    db: 'd',
    epoch: 'ns',
    params: `{"v":${value}}`,
  });

  expect(answer.json.results[0].series?.[0].values ?? []).toEqual(rows);
});

test('a line that begins with a carriage return is refused, be its measurement known or not', async () => {
  for (const measurement of ['cr', 'cr']) {
    await service.write(`${measurement} f=1 1`, { db: 'd' });
    const answer = await service.write(`\r${measurement} f=1 1`, { db: 'd' });
    expect(answer.json.error).toContain('carriage return at the start of the line');
  }
});
