// Diagnostics about query texts, in addition to the messages that clients know.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestService } from '../testing.ts';
import type { TestService } from '../testing.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.query('CREATE DATABASE d');
  await service.write('cpu,host=a usage=1,idle=2 1000', { db: 'd' });
  // In shards of their own, texts and numbers, and integers and floats.
  await service.write('mixed v=1,n=1i 1', { db: 'd' });
  await service.write('mixed v="x",n=2 20000\nother v=1 1', { db: 'd', precision: 'h' });
});
afterAll(() => service.close());

function ask(q: string, parameters: Record<string, string> = {}) {
  return service.query(q, { db: 'd', diagnostics: 'true', ...parameters });
}

function placeOf(header: string | null): unknown {
  return JSON.parse(header ?? 'null');
}

describe('a text that does not parse', () => {
  test.each([
    ['SELECT usage FROM cpu WHERE host =~ /[z-a]/', '[z-a]', 36],
    ['SELECT usage FROM cpu WHERE host !~ /\\C/', '\\C', 36],
    ['SELECT /\\p{Foo}/ FROM cpu', '\\p{Foo}', 7],
    ['SHOW SERIES FROM /[z-a]/', '[z-a]', 17],
    ['DELETE FROM /[z-a]/', '[z-a]', 12],
    [
      'CREATE CONTINUOUS QUERY c ON d BEGIN SELECT mean(usage) INTO m FROM /[z-a]/ GROUP BY time(1m) END',
      '[z-a]',
      68,
    ],
  ])('%s: a regular expression that is none, with its place', async (text, pattern, at) => {
    const { status, json } = await ask(text);

    expect(status).toBe(400);
    expect(json.error).toMatch(
      /^error parsing query: error parsing regexp: invalid .* at line 1, char \d+$/,
    );
    expect(json.error).not.toMatch(/re2|exception/i);
    const [{ position, length }] = json.diagnostics;
    expect([position, text.slice(position, position + length)]).toEqual([at, `/${pattern}/`]);
    expect((await service.query('SHOW CONTINUOUS QUERIES')).text).not.toContain('[z-a]');
  });

  test('keeps the known body; code, position, length and hint are in a header', async () => {
    const answer = await service.query('SELECT usage FORM cpu', { db: 'd' });

    expect([answer.status, answer.text]).toEqual([
      400,
      '{"error":"error parsing query: found FORM, expected FROM at line 1, char 14"}\n',
    ]);
    expect(placeOf(answer.headers.get('x-tsdb-diagnostics'))).toEqual([
      expect.objectContaining({ code: 'IQL_SYNTAX', position: 13, length: 4 }),
    ]);
  });

  test('has them in the body for those who ask', async () => {
    const { json } = await ask("SELECT usage FROM cpu WHERE host LIKE 'a'");

    expect(json.error).toMatch(/^error parsing query: found LIKE, expected /);
    expect(json.diagnostics).toEqual([
      {
        code: 'IQL_SYNTAX',
        message: expect.stringMatching(/^found LIKE, expected /),
        position: 33,
        length: 4,
        hint: 'there is no LIKE; use =~ with a regular expression, for example host =~ /^web/',
      },
    ]);
  });

  test('blanks around the text do not count', async () => {
    const { json } = await ask('\n   SELECT usage FORM cpu  ');

    expect(json.error).toBe('error parsing query: found FORM, expected FROM at line 1, char 14');
    expect(json.diagnostics[0].position).toBe(13);
  });

  test('reports every statement that is wrong', async () => {
    const { json } = await ask('SELECT FROM cpu; SHOW DATABASES; SHOW TABLES');

    expect(json.diagnostics.map((one: { position: number }) => one.position)).toEqual([7, 38]);
  });

  test('counts positions as a JavaScript string does', async () => {
    const text = "SELECT usage FROM cpu WHERE host = '😀' NOT";
    const { json } = await ask(text);

    const [{ position, length }] = json.diagnostics;
    expect(text.slice(position, position + length)).toBe('NOT');
  });

  test('never repeats a password', async () => {
    const answer = await ask('CREATE USER u WITH PASSWORD secret');

    expect(answer.text).not.toContain('secret');
    expect(answer.headers.get('x-tsdb-diagnostics')).not.toContain('secret');
    expect(answer.json.diagnostics).toHaveLength(1);
  });

  test('leaves most findings out of the header when there are too many', async () => {
    const answer = await ask(Array.from({ length: 50 }, () => 'SELECT é').join('; '));

    expect(answer.json.diagnostics).toHaveLength(50);
    const header = answer.headers.get('x-tsdb-diagnostics') ?? '';
    expect(header.length).toBeLessThan(2100);
    expect(placeOf(header)).not.toHaveLength(0);
  });
});

describe('a statement with unknown names', () => {
  test('an unknown function near a known one is an error with a suggestion', async () => {
    const { json } = await ask('SHOW DATABASES; SELECT usage, maen(usage) FROM cpu');

    expect(json.results[1]).toEqual({
      statement_id: 1,
      error: 'undefined function maen()',
      diagnostics: [
        {
          code: 'IQL_UNKNOWN_FUNCTION',
          message: 'undefined function maen()',
          position: 30,
          length: 4,
          hint: 'did you mean mean()?',
        },
      ],
    });
  });

  test.each([
    ['SELECT usge FROM cpu', 'IQL_UNKNOWN_NAME', 'usge', 'did you mean usage?'],
    ['SELECT mean(idel) FROM cpu', 'IQL_UNKNOWN_NAME', 'idel', 'did you mean idle?'],
    ["SELECT usage FROM cpu WHERE hots = 'a'", 'IQL_UNKNOWN_NAME', 'hots', 'did you mean host?'],
    [
      'SELECT val FROM (SELECT usage AS vol FROM cpu)',
      'IQL_UNKNOWN_NAME',
      'val',
      'did you mean vol?',
    ],
    ['SELECT usage, xyzzy FROM cpu', 'IQL_UNKNOWN_NAME', 'xyzzy', undefined],
    [
      'SELECT usage FROM cpu WHERE host = "web1"',
      'IQL_UNKNOWN_NAME',
      '"web1"',
      "strings are written in single quotes: 'web1'",
    ],
    [
      "SELECT usage FROM cpu WHERE usage = '5'",
      'IQL_TYPE_OF_VALUE',
      "'5'",
      'write it without quotes: 5',
    ],
    [
      'SELECT usage FROM cpu WHERE time > 1700000000',
      'IQL_TIME_UNIT',
      '1700000000',
      'write 1700000000s, or a time in single quotes',
    ],
    [
      'SELECT host FROM cpu',
      'IQL_ONLY_TAGS',
      'host',
      'select a field, too, or ask for the values of a tag with SHOW TAG VALUES WITH KEY = …',
    ],
    ['SELECT usage FROM cpi', 'IQL_UNKNOWN_MEASUREMENT', 'cpi', 'did you mean cpu?'],
    [
      'SELECT v FROM mixed',
      'IQL_MIXED_TYPES',
      'v',
      'ask for them by their type, for example v::string',
    ],
    [
      'SELECT mean(v) FROM mixed GROUP BY time(1w)',
      'IQL_MIXED_TYPES',
      'v',
      'ask for them by their type, for example v::string',
    ],
    [
      'SELECT * FROM /^other|^mixed/',
      'IQL_MIXED_TYPES',
      '*',
      'ask for them by their type, for example v::string',
    ],
  ])('%s', async (text, code, name, hint) => {
    const { json } = await ask(text);

    const [{ diagnostics }] = json.results;
    expect(diagnostics).toHaveLength(1);
    const [{ position, length }] = diagnostics;
    expect(diagnostics[0]).toMatchObject(hint === undefined ? { code } : { code, hint });
    expect(text.slice(position, position + length)).toBe(name);
  });

  test.each([
    'SELECT usage, host FROM cpu WHERE time > 0',
    'SELECT * FROM cpu GROUP BY nosuchtag',
    "SELECT usage FROM cpu WHERE time > '2100-01-01T00:00:00Z'",
    'SELECT mean(usage) AS m FROM cpu',
    'SELECT v::string FROM mixed',
    'SELECT v FROM mixed WHERE time < 1s',
    'SELECT n FROM mixed',
  ])('says nothing about %s', async (text) => {
    expect((await ask(text)).text).not.toContain('diagnostics');
  });

  test('says nothing to those who did not ask', async () => {
    const answer = await service.query('SELECT usage, usge FROM cpu', { db: 'd' });

    expect(answer.text).not.toContain('diagnostics');
  });

  test('says it in chunked answers too', async () => {
    const answer = await ask('SELECT usage, usge FROM cpu', { chunked: 'true' });

    expect(answer.text).toContain('"code":"IQL_UNKNOWN_NAME"');
  });
});

describe('words of the language', () => {
  test.each([
    ['SHOW MEASURMENTS', 'MEASURMENTS', 'did you mean MEASUREMENTS?'],
    ['SELECT usage FORM cpu', 'FORM', 'did you mean FROM?'],
  ])('%s', async (text, word, hint) => {
    const { json } = await ask(text);

    const [{ position, length }] = json.diagnostics;
    expect(text.slice(position, position + length)).toBe(word);
    expect(json.diagnostics[0].hint).toBe(hint);
  });
});
