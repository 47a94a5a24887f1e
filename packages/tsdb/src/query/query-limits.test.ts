// Every limit of a query, with the setting that its error names, and hostile texts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

const LINES = Array.from({ length: 200 }, (_, i) => `m,host=h${i % 4} f=${i},s="t${i % 7}" ${i}`);

function repeat(part: string, count: number, separator = ''): string {
  return Array.from({ length: count }, () => part).join(separator);
}

async function startWith(coordinator: Record<string, unknown>): Promise<TestService> {
  const service = await startTestService({ config: { coordinator } });
  await service.query('CREATE DATABASE d');
  await service.write(LINES.join('\n'), { db: 'd', precision: 's' });
  return service;
}

/** The text in the body: a URL has no room for a megabyte. */
async function post({ url }: TestService, q: string): Promise<{ status: number; text: string }> {
  const body = new URLSearchParams({ q, db: 'd' });
  const response = await fetch(`${url}/query`, { method: 'POST', body });
  return { status: response.status, text: await response.text() };
}

describe('a limit that is reached ends the statement with the name of its setting', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startWith({
      'max-select-point': 150,
      'max-select-series': 3,
      'max-select-buckets': 100,
      'max-select-sources': 4,
      'max-subquery-depth': 2,
      'max-condition-fields': 3,
      'max-select-columns': 6,
      'max-select-dimensions': 2,
      'max-query-tokens': 60,
      'max-query-depth': 4,
      'max-query-operators': 5,
      'max-regex-length': 8,
      'max-statements-per-request': 5,
    });
  });
  afterAll(() => service.close());

  test.each([
    ['points', "SELECT f FROM m WHERE host != 'h0' OR f > 0", 'max-select-series'],
    ['points of fewer series', 'SELECT f FROM (SELECT f FROM m)', 'max-select-series'],
    ['series', 'SELECT mean(f) FROM m', 'max-select-series'],
    [
      'buckets',
      "SELECT mean(f) FROM m WHERE host = 'h0' AND time >= 0 AND time < 200s GROUP BY time(1s)",
      'max-select-buckets',
    ],
    ['sources', 'SELECT f FROM m, m, m, m, m', 'max-select-sources'],
    [
      'subqueries',
      'SELECT f FROM (SELECT f FROM (SELECT f FROM (SELECT f FROM m)))',
      'max-subquery-depth',
    ],
    [
      'fields of a condition',
      'SELECT f FROM m WHERE f=1 OR f=2 OR f=3 OR s=s',
      'max-condition-fields',
    ],
    ['columns', 'SELECT f, f, f, f, f, f, f FROM m', 'max-select-columns'],
    ['columns of wildcards', 'SELECT *, *, * FROM m', 'max-select-columns'],
    ['tags in GROUP BY', 'SELECT f FROM m GROUP BY host, a, b', 'max-select-dimensions'],
  ])('%s', async (_name, text, setting) => {
    const { json } = await service.query(text, { db: 'd' });

    expect(json.results).toEqual([
      { statement_id: 0, error: expect.stringContaining(`${setting} limit exceed`) },
    ]);
  });

  test.each([
    ['words and symbols', `SELECT ${repeat('f', 40, ',')} FROM m`, 'max-query-tokens'],
    ['nesting', 'SELECT (((((f))))) FROM m', 'max-query-depth'],
    ['operators in a row', 'SELECT f+f+f+f+f+f FROM m', 'max-query-operators'],
    ['regular expression', 'SELECT f FROM /abcdefghi/', 'max-regex-length'],
  ])('%s: the text is refused', async (_name, text, setting) => {
    const { status, json } = await service.query(text, { db: 'd', diagnostics: 'true' });

    expect(status).toBe(400);
    expect(json.error).toContain(`error parsing query: ${setting} limit exceeded: `);
    expect(json.diagnostics[0].hint).toContain(`raise coordinator.${setting}`);
  });

  test('statements of a request: none of them runs', async () => {
    const text = Array.from({ length: 6 }, (_, i) => `CREATE DATABASE x${i}`).join(';');
    const answer = await service.query(text);

    expect([answer.status, answer.json]).toEqual([
      400,
      { error: 'max-statements-per-request limit exceeded: (6/5)' },
    ]);
    expect((await service.query('SHOW DATABASES')).text).not.toContain('x0');
  });
});

describe('limits of what is read, held and answered', () => {
  test('points', async () => {
    const service = await startWith({ 'max-select-point': 150 });
    const answers = await Promise.all(
      ['SELECT f FROM m', 'SELECT median(f) FROM m', 'SELECT f FROM (SELECT f FROM m)'].map(
        (text) => service.query(text, { db: 'd' }),
      ),
    );

    for (const { json } of answers) {
      expect(json.results[0].error).toMatch(/^max-select-point limit exceeed: \(\d+\/150\)$/);
    }
    await service.close();
  });

  test('memory', async () => {
    const service = await startWith({ 'query-memory-limit': '1k' });
    for (const text of [
      'SELECT f FROM m',
      'SELECT median(f) FROM m',
      'SELECT distinct(f) FROM m',
    ]) {
      const { json } = await service.query(text, { db: 'd' });
      expect(json.results[0].error).toContain('query-memory-limit');
    }
    await service.close();
  });

  test('rows: the answer is cut and marked', async () => {
    const service = await startTestService({ config: { http: { 'max-row-limit': 3 } } });
    await service.query('CREATE DATABASE d');
    await service.write(LINES.join('\n'), { db: 'd', precision: 's' });
    const { json } = await service.query('SELECT f FROM m', { db: 'd' });

    expect(json.results[0].series[0].values).toHaveLength(3);
    expect(json.results[0].series[0].partial).toBe(true);
    await service.close();
  });
});

describe('texts that are made to hurt', () => {
  let service: TestService;
  beforeAll(async () => {
    // Whatever is answered here holds no more than this at once.
    service = await startWith({ 'query-memory-limit': '2m' });
  });
  afterAll(() => service.close());

  test.each([
    ['parentheses', `SELECT ${repeat('(', 10_000)}f${repeat(')', 10_000)} FROM m`],
    ['parentheses of a condition', `SELECT f FROM m WHERE ${repeat('(', 10_000)}f=1`],
    ['calls', `SELECT ${repeat('abs(', 10_000)}f${repeat(')', 10_000)} FROM m`],
    ['subqueries', `${repeat('SELECT f FROM (', 10_000)}SELECT f FROM m${repeat(')', 10_000)}`],
  ])('10,000 nested %s are a syntax error', async (_name, text) => {
    const answer = await post(service, text);

    expect(answer.status).toBe(400);
    expect(answer.text).toContain(
      'error parsing query: max-query-depth limit exceeded: the query nests deeper than 200 levels',
    );
  });

  test.each([
    ['an unterminated string', `SELECT '${repeat('x', 1_000_000)}`, 400],
    ['opening parentheses', repeat('(', 1_000_000), 400],
    ['a sum', `SELECT f${repeat('+1', 500_000)} FROM m`, 400],
    ['sources', `SELECT f FROM ${repeat('m', 500_000, ',')}`, 400],
    ['fields', `SELECT ${repeat('f', 500_000, ',')} FROM m`, 400],
    ['wildcards', `SELECT ${repeat('*', 500_000, ',')} FROM m`, 400],
    ['comparisons of fields', `SELECT f FROM m WHERE ${repeat('f=1', 120_000, ' OR ')}`, 400],
    ['regular expression', `SELECT f FROM m WHERE host =~ /${repeat('h', 500_000, '|')}/`, 400],
    ['statements', repeat('SELECT f FROM m', 60_000, ';'), 400],
  ])('a megabyte of %s is an error', async (_name, text, status) => {
    const answer = await post(service, text);

    expect(answer.status).toBe(status);
    expect(answer.text).toContain('"error"');
  });

  test.each([' OR ', ' AND '])('20,000 comparisons of tags with%sare answered', async (between) => {
    const text = `SELECT count(f) FROM m WHERE ${repeat("host='h1'", 20_000, between)}`;
    const answer = await post(service, text);

    expect(answer.text).toContain('["1970-01-01T00:00:00Z",50]');
  });

  test('a megabyte of blanks, comments and text is no burden', async () => {
    const name = repeat('x', 1_000_000);
    const text = `SELECT count(f)${repeat(' ', 500_000)}/*${name}*/FROM m WHERE host != '${name}'`;
    const answer = await post(service, text);

    expect(answer.text).toContain('["1970-01-01T00:00:00Z",200]');
  });

  test('a regular expression that others take exponential time for is answered', async () => {
    await service.write(`evil s="${repeat('a', 5000)}!" 1`, { db: 'd' });
    const { json } = await service.query('SELECT s FROM evil WHERE s =~ /^(a+)+$/', { db: 'd' });

    expect(json.results).toEqual([{ statement_id: 0 }]);
  });

  test('everything there is, in groups of one series, is answered as a stream', async () => {
    const lines = Array.from(
      { length: 120_000 },
      (_, i) => `all,host=h${i % 6} f=${i},g=${i}i ${i}`,
    );
    await service.write(lines.join('\n'), { db: 'd' });
    const { text } = await service.query('SELECT * FROM "all" GROUP BY *', { db: 'd' });
    const merged = await service.query('SELECT * FROM (SELECT * FROM "all")', { db: 'd' });

    expect(text).toContain('119999]');
    expect(text).not.toContain('error');
    expect(merged.text).toContain('query-memory-limit exceeded');
  });

  test('a million windows of a nanosecond are answered as a stream', async () => {
    const text = 'SELECT count(f) FROM m WHERE time >= 0 AND time < 1000000ns GROUP BY time(1ns)';
    const response = await fetch(
      `${service.url}/query?${new URLSearchParams({ db: 'd', q: text, chunked: 'true' })}`,
    );
    let rows = 0;
    let rest = '';
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) rows += JSON.parse(line).results[0].series[0].values.length;
    }

    expect(rows).toBe(1_000_000);
  }, 300_000);
});
