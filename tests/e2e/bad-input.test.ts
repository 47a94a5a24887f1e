// Bad input gets a clear answer, and nothing that a client sends stops the process.
import { request } from 'node:http';

import fc from 'fast-check';
import { query, removeDirectory, send, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let server: Tidemark;

beforeAll(async () => {
  server = await startTidemark();
  await query(server.tsdb, 'CREATE DATABASE d');
});

afterAll(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

describe('the database', () => {
  test('answers unknown paths with 404 and JSON', async () => {
    const answer = await send(`${server.tsdb}/nothing/here`);

    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.text).toBe('{"error":"404 page not found"}\n');
  });

  test.each([
    ['GET', '/write'],
    ['DELETE', '/query'],
    ['PUT', '/ping'],
  ])('answers %s %s with 405', async (method, path) => {
    expect((await send(server.tsdb + path, { method })).status).toBe(405);
  });

  test('answers a body over the limit with 413 and keeps serving', async () => {
    const answer = await send(`${server.tsdb}/write?db=d`, {
      method: 'POST',
      body: 'x'.repeat(25_000_001),
    });

    expect(answer.status).toBe(413);
    expect(JSON.parse(answer.text)).toEqual({ error: 'Request Entity Too Large' });
    expect((await send(`${server.tsdb}/ping`)).status).toBe(204);
  });

  test('quotes the malformed line, says why, and keeps the good ones', async () => {
    const answer = await send(`${server.tsdb}/write?db=d`, {
      method: 'POST',
      body: 'kept f=1 1\nbad line here\nkept f=2 2',
    });

    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toEqual({
      error: "partial write: unable to parse 'bad line here': invalid field format dropped=0",
    });
    const [series] = await query(server.tsdb, 'SELECT count(f) FROM kept', 'd');
    expect(series?.values?.[0]?.[1]).toBe(2);
  });

  test.each([
    'text/plain',
    'application/json',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
    'nonsense',
  ])('reads a write under content type %s', async (type) => {
    const answer = await send(`${server.tsdb}/write?db=d`, {
      method: 'POST',
      body: 'types f=1 1',
      headers: { 'Content-Type': type },
    });

    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
  });

  test('answers application/json exactly', async () => {
    const answer = await send(`${server.tsdb}/query?q=SHOW%20DATABASES`);

    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  test('points at the place of a syntax error', async () => {
    const answer = await send(`${server.tsdb}/query?q=SELECT%20mean(f)%20FORM%20m`);

    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toMatchObject({
      error: 'error parsing query: found FORM, expected FROM at line 1, char 16',
    });
  });
});

describe('the engine', () => {
  test('answers unknown paths with 404 and wrong ids with 400', async () => {
    expect((await send(`${server.engine}/nothing`)).status).toBe(404);
    const answer = await send(`${server.engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({
        id: 'a/b',
        type: 'stream',
        dbrps: [{ db: 'd', rp: 'r' }],
        script: 'stream|from()',
      }),
    });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toHaveProperty('error');
  });

  test('says line, column and what was expected of a broken script', async () => {
    const answer = await send(`${server.engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({
        id: 'broken',
        type: 'stream',
        dbrps: [{ db: 'd', rp: 'r' }],
        script: 'stream\n    |from(\n    |window()',
      }),
    });

    expect(answer.status).toBe(400);
    expect((JSON.parse(answer.text) as { error: string }).error).toMatch(
      /line 3 char \d+.*expected/s,
    );
  });
});

/** Sends bytes as they are; the status, or 0 when the connection broke. */
function sendRaw(
  base: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<number> {
  return new Promise((resolve) => {
    const outgoing = request(
      base + path,
      { method, headers: { ...headers, 'Content-Length': body.length } },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', () => resolve(0));
      },
    );
    outgoing.on('error', () => resolve(0));
    outgoing.end(body);
  });
}

const LINES = [
  'cpu,host=a,region=eu usage=0.64,n=3i,ok=true,s="x y" 1700000000000000000',
  'm\\ 1,t\\,g=v\\=l f=1,g=2i,h="a \\"quoted\\" b"',
  '# comment\nweather,station=x temp=-3.5e2 -1\n\n',
];
const STATEMENTS = [
  'SELECT mean(usage) FROM cpu WHERE host =~ /a|b/ AND time > now() - 1h GROUP BY time(10m), host fill(previous) LIMIT 3',
  "SHOW TAG VALUES FROM cpu WITH KEY = host WHERE region != 'x'",
  'SELECT max(n), "s" FROM (SELECT n, s FROM cpu) WHERE ok = true ORDER BY time DESC; SHOW DATABASES',
];
const SCRIPTS = [
  "stream|from().measurement('cpu').groupBy('host').where(lambda: \"usage\" > 0.5)|window().period(1m).every(1m)|mean('usage')|alert().crit(lambda: \"mean\" > 0.9)|httpOut('o')",
  'var t = 5.0\nstream|from()|eval(lambda: "a" + t).as(\'b\').keep()|log()',
];

/** A text with a few bytes changed, inserted, removed, repeated or cut. */
const mutated = (texts: readonly string[]) =>
  fc
    .tuple(
      fc.constantFrom(...texts),
      fc.array(
        fc.record({
          at: fc.nat(400),
          kind: fc.constantFrom('set', 'insert', 'remove', 'repeat', 'cut'),
          byte: fc.nat(255),
        }),
        { maxLength: 4 },
      ),
    )
    .map(([text, edits]) => {
      let bytes = [...Buffer.from(text)];
      for (const { at, kind, byte } of edits) {
        const i = bytes.length === 0 ? 0 : at % bytes.length;
        if (kind === 'set') bytes[i] = byte;
        else if (kind === 'insert') bytes.splice(i, 0, byte);
        else if (kind === 'remove') bytes.splice(i, 1 + (byte % 8));
        else if (kind === 'repeat') bytes.splice(i, 0, ...bytes.slice(i, i + (byte % 32)));
        else bytes = bytes.slice(0, i);
      }
      return Buffer.from(bytes);
    });

type Share = { requests: number; accepted: number; broken: number };

async function fuzz(
  name: string,
  arbitrary: fc.Arbitrary<Buffer>,
  count: number,
  deliver: (bytes: Buffer) => Promise<number>,
): Promise<Share> {
  const share: Share = { requests: 0, accepted: 0, broken: 0 };
  const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
  const samples = fc.sample(arbitrary, { numRuns: count, seed });
  const workers = Array.from({ length: 8 }, async () => {
    for (let next = samples.pop(); next !== undefined; next = samples.pop()) {
      const status = await deliver(next);
      share.requests++;
      if (status === 0) share.broken++;
      else if (status < 300) share.accepted++;
      expect(
        status,
        `${name}: a server error for ${JSON.stringify(next.toString('latin1'))}`,
      ).toBeLessThan(500);
    }
  });
  await Promise.all(workers);
  process.stdout.write(
    `fuzz ${name}: ${share.requests} requests, ${((100 * share.accepted) / share.requests).toFixed(1)} % accepted, seed ${seed}\n`,
  );
  return share;
}

describe('10,000 mutated requests', () => {
  test('leave the database serving', async () => {
    const writes = await fuzz('POST /write', mutated(LINES), 4000, (body) =>
      sendRaw(server.tsdb, 'POST', '/write?db=d', {}, body),
    );
    const queries = await fuzz('POST /query', mutated(STATEMENTS), 3000, (text) =>
      sendRaw(
        server.tsdb,
        'POST',
        '/query?db=d',
        { 'Content-Type': 'application/x-www-form-urlencoded' },
        Buffer.from(`q=${encodeURIComponent(text.toString('latin1'))}`),
      ),
    );

    expect(writes.broken + queries.broken).toBe(0);
    expect(writes.accepted).toBeGreaterThan(0);
    expect(queries.accepted).toBeGreaterThan(0);
    expect((await send(`${server.tsdb}/ping`)).status).toBe(204);
  }, 300_000);

  test('leave the engine serving', async () => {
    let id = 0;
    const writes = await fuzz('POST /engine/v1/write', mutated(LINES), 1500, (body) =>
      sendRaw(server.engine, 'POST', '/engine/v1/write?db=d&rp=r', {}, body),
    );
    const scripts = await fuzz('POST /engine/v1/tasks', mutated(SCRIPTS), 1500, (script) =>
      sendRaw(
        server.engine,
        'POST',
        '/engine/v1/tasks',
        {},
        Buffer.from(
          JSON.stringify({
            id: `fuzz-${id++}`,
            type: 'stream',
            dbrps: [{ db: 'd', rp: 'r' }],
            script: script.toString('latin1'),
          }),
        ),
      ),
    );

    expect(writes.broken + scripts.broken).toBe(0);
    expect(writes.accepted).toBeGreaterThan(0);
    expect(scripts.accepted).toBeGreaterThan(0);
    expect((await send(`${server.engine}/engine/v1/ping`)).status).toBe(204);
  }, 300_000);
});
