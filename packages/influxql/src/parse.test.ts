import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { BindParameter } from './parse.ts';
import type { ParseLimits } from './limits.ts';
import { parseExpression, parseQuery } from './parse.ts';
import { printStatement } from './print.ts';

function errorOf(text: string, parameters?: Readonly<Record<string, BindParameter>>): string {
  const map = parameters && new Map(Object.entries(parameters));
  return parseQuery(text, { parameters: map }).error ?? '';
}

function printed(text: string, parameters?: Readonly<Record<string, BindParameter>>): string {
  const map = parameters && new Map(Object.entries(parameters));
  const result = parseQuery(text, { parameters: map });
  expect(result.error).toBeUndefined();
  return result.query.statements.map((one) => printStatement(one)).join('; ');
}

describe('a query text', () => {
  test.each(['', ' \n', ';;', '-- nothing', '/* nothing */ ;'])('%j has no statement', (text) => {
    expect(parseQuery(text)).toEqual({ query: { statements: [] }, diagnostics: [] });
  });

  test('reports the findings of several statements, the first of them as the error', () => {
    const text = 'SELECT FROM a; SHOW DATABASES; DROP; SELECT v FROM b';

    const result = parseQuery(text);

    expect(result.diagnostics.map((one) => text.slice(one.span.start, one.span.end))).toEqual([
      'FROM',
      ';',
    ]);
    expect(result.error).toBe(
      'found FROM, expected identifier, string, number, bool at line 1, char 8',
    );
    expect(result.query.statements.map((one) => one.kind)).toEqual(['show-databases', 'select']);
  });

  test('counts lines and code points, not bytes', () => {
    expect(errorOf("SELECT v FROM m WHERE a = '😀é' 5")).toContain('char 32');
    expect(errorOf('SELECT v\r\nFROM\rm 5')).toContain('line 3, char 3');
  });

  test('gives every node the span of its text', () => {
    const text = 'SELECT mean("v") AS x FROM db.rp.m WHERE a > -5';

    const [statement] = parseQuery(text).query.statements;

    if (statement?.kind !== 'select') throw new Error('a SELECT');
    const slice = (span: { readonly start: number; readonly end: number } | undefined): string =>
      text.slice(span?.start, span?.end);
    expect(slice(statement.span)).toBe(text);
    expect(slice(statement.fields[0]?.span)).toBe('mean("v") AS x');
    expect(slice(statement.fields[0]?.expression.span)).toBe('mean("v")');
    expect(slice(statement.sources[0]?.span)).toBe('db.rp.m');
    expect(slice(statement.condition?.span)).toBe('a > -5');
  });
});

describe('hints', () => {
  test.each([
    ['SELECT user FROM m', 'USER is a keyword; as a name write "user"'],
    ["SELECT v FROM 'm'", 'names are written in double quotes: "m"'],
    ["SELECT v FROM m WHERE a LIKE 'x'", 'there is no LIKE'],
    ['SELECT v FROM m WHERE a == 1', 'equality is a single ='],
    ['CREATE USER u WITH PASSWORD pw', "strings are written in single quotes: 'pw'"],
    ["SELECT v FROM m WHERE a = 'x", 'close the quote'],
  ])('%s', (text, hint) => {
    expect(parseQuery(text).diagnostics[0]?.hint).toContain(hint);
  });
});

describe('printing', () => {
  test.each([
    ['select MEAN(v) from m', 'SELECT mean(v) FROM m'],
    ['SELECT "a b", "select", "x"::integer FROM "m-1"', undefined],
    ['SELECT "a".b FROM db..m', 'SELECT "a.b" FROM db..m'],
    ['SELECT -v, - (v), +v, -5, - 1h FROM m', 'SELECT -1 * v, -1 * (v), 1 * v, -5, -1h FROM m'],
    ['SELECT a / -b FROM m', 'SELECT a / (-1 * b) FROM m'],
    ['SELECT 1.50, .5, 1., 100000000000000000000000.0 FROM m', undefined],
    ['SELECT * , *::field, /a\\/b/ FROM /x/, rp./y/, db.rp./z/, db../w/', undefined],
    ['SELECT v FROM (SELECT v FROM a), b', undefined],
    ["SELECT v FROM m WHERE s = 'it\\'s' AND t =~ /^a$/ OR (x != 1)", undefined],
    ['SELECT v INTO db.rp.:MEASUREMENT FROM m', undefined],
    ['SELECT v INTO :MEASUREMENT FROM m', undefined],
    ['SELECT v FROM m GROUP BY time(1h, -5m), *, /t/ fill(-1.5) ORDER BY time DESC', undefined],
    ["SELECT v FROM m LIMIT 1 OFFSET 2 SLIMIT 3 SOFFSET 4 tz('Europe/Berlin')", undefined],
    ['EXPLAIN ANALYZE VERBOSE SELECT v FROM m', undefined],
    ['SHOW MEASUREMENTS ON *.*', undefined],
    ['SHOW MEASUREMENTS ON db.rp WITH MEASUREMENT =~ /x/ LIMIT 3', undefined],
    ['SHOW TAG VALUES EXACT CARDINALITY ON db FROM m WITH KEY IN (a, "b c") GROUP BY a', undefined],
    ['CREATE DATABASE d WITH DURATION 1d REPLICATION 2 SHARD DURATION 1h NAME "n"', undefined],
    ['CREATE RETENTION POLICY p ON d DURATION INF REPLICATION 1 DEFAULT', undefined],
    ['ALTER RETENTION POLICY p ON d DEFAULT FUTURE LIMIT 1h PAST LIMIT INF', undefined],
    ["CREATE USER u WITH PASSWORD 'p\\'w' WITH ALL PRIVILEGES", undefined],
    ["CREATE SUBSCRIPTION s ON d.r DESTINATIONS ANY 'http://a', 'http://b'", undefined],
    ['GRANT ALL ON d TO u; REVOKE READ ON d FROM u; GRANT ALL TO u', undefined],
    ['KILL QUERY 5 ON "h:8088"', undefined],
  ])('%s', (text, expected) => {
    const once = printed(text);

    if (expected !== undefined) expect(once).toBe(expected);
    expect(printed(once)).toBe(once);
  });

  test('can hide passwords', () => {
    const { statements } = parseQuery(
      "SET PASSWORD FOR u = 'x'; CREATE USER u WITH PASSWORD 'x'",
    ).query;

    expect(statements.map((one) => printStatement(one, { redactPasswords: true }))).toEqual([
      'SET PASSWORD FOR u = [REDACTED]',
      'CREATE USER u WITH PASSWORD [REDACTED]',
    ]);
  });
});

describe('bind parameters', () => {
  test.each<readonly [BindParameter, string]>([
    [5n, 'x = 5'],
    [-5n, 'x = -5'],
    [1.5, 'x = 1.5'],
    [true, 'x = true'],
    ["'; DROP DATABASE d --", "x = '\\'; DROP DATABASE d --'"],
    [{ identifier: 'a b' }, 'x = "a b"'],
    [{ ident: 'y' }, 'x = y'],
    [{ string: 's' }, "x = 's'"],
    [{ float: 2n }, 'x = 2.0'],
    [{ number: 0.5 }, 'x = 0.5'],
    [{ integer: 7n }, 'x = 7'],
    [{ int: 7 }, 'x = 7'],
    [{ duration: '90m' }, 'x = 90m'],
    [{ duration: 1000n }, 'x = 1u'],
  ])('value %# stands for one token', (value, condition) => {
    expect(printed('SELECT v FROM m WHERE x = $p', { p: value })).toBe(
      `SELECT v FROM m WHERE ${condition}`,
    );
  });

  test('may stand for regular expressions, names and limits', () => {
    const text = 'SELECT v FROM $m WHERE t =~ $r LIMIT $n';
    const parameters = { m: { identifier: 'a-b' }, r: { regex: '^x/' }, n: 3n };

    expect(printed(text, parameters)).toBe('SELECT v FROM "a-b" WHERE t =~ /^x\\// LIMIT 3');
  });

  test.each<readonly [BindParameter, string]>([
    [{}, 'bound object parameter value must have exactly one entry'],
    [{ a: 1, b: 2 }, 'bound object parameter value must have exactly one entry'],
    [{ foo: 1 }, 'unknown bind object type: foo'],
    [{ identifier: 5 }, 'bound value of type identifier has the wrong form'],
    [{ regex: '[' }, 'error parsing regexp: missing closing ]: `[` at line 1, char 28'],
  ])('value %# is refused', (value, error) => {
    expect(errorOf('SELECT v FROM m WHERE x =~ $p', { p: value })).toContain(
      'regex' in Object(value) ? error : 'expected regex',
    );
    if (!('regex' in Object(value))) {
      expect(errorOf('SELECT v FROM m WHERE x = $p', { p: value })).toBe(error);
    }
  });
});

describe('hostile texts', () => {
  const depths = [
    ['parentheses', '('.repeat(10_000)],
    ['signs and parentheses', '-('.repeat(10_000)],
    ['calls', 'f('.repeat(10_000)],
    ['subqueries', `v FROM ${'(SELECT v FROM '.repeat(10_000)}`],
  ] as const;

  test.each(depths)('10,000 nested %s are an error', (_name, text) => {
    expect(errorOf(`SELECT ${text}`)).toContain('nests deeper than 200 levels at line 1');
  });

  test('a chain of arithmetic beyond what can be walked is an error', () => {
    expect(errorOf(`SELECT ${'a+'.repeat(1000)}a FROM m`)).toBe(
      'max-query-operators limit exceeded: the expression has more than 1000 operators in a row',
    );
  });

  test.each([
    ['arithmetic', `SELECT ${'a+'.repeat(500_000)}a FROM m`],
    ['semicolons', ';'.repeat(1_000_000)],
    ['statements', 'SELECT a FROM m;'.repeat(60_000)],
    ['words', 'x '.repeat(500_000)],
  ])('a megabyte of %s is refused at the limit of tokens', (_name, text) => {
    const { error, diagnostics } = parseQuery(text);

    expect(diagnostics.at(-1)).toMatchObject({
      code: 'IQL_LIMIT',
      message: 'max-query-tokens limit exceeded: the query has more than 100000 words and symbols',
      hint: expect.stringContaining('raise coordinator.max-query-tokens'),
    });
    expect(error).toBeDefined();
  });

  test('limits can be set, up to what the stack bears', () => {
    const deep = (levels: number) => `SELECT ${'('.repeat(levels)}v${')'.repeat(levels)} FROM m`;
    const errorWith = (text: string, limits: ParseLimits) => parseQuery(text, { limits }).error;

    expect(errorWith(deep(4), { maxDepth: 3 })).toBe(
      'max-query-depth limit exceeded: the query nests deeper than 3 levels at line 1, char 12',
    );
    expect(errorWith(deep(500), { maxDepth: 0 })).toBeUndefined();
    expect(errorWith(deep(501), { maxDepth: 9999 })).toContain('max-query-depth');
    expect(errorWith('SELECT v FROM m', { maxTokens: 3 })).toContain('max-query-tokens');
    expect(errorWith('SELECT v+v+v FROM m', { maxOperators: 2 })).toContain('max-query-operators');
    expect(errorWith('SELECT v FROM /abcd/', { maxRegexLength: 3 })).toBe(
      'max-regex-length limit exceeded: a regular expression has more than 3 characters',
    );
  });

  test('a long chain of OR is a flat tree', () => {
    const condition = Array.from({ length: 20_000 }, (_, i) => `host = 'h${i}'`).join(' OR ');
    const text = `SELECT v FROM m WHERE ${condition}`;

    expect(printed(text)).toBe(text);
  });

  test('chains of AND and OR keep their precedence', () => {
    const result = parseExpression('a = 1 OR b = 2 AND c = 3 AND d = 4 OR e = 5');

    const { expression } = result;
    if (expression?.kind !== 'binary') throw new Error('an operation');
    expect(expression.operator).toBe('OR');
    expect(expression.left).toMatchObject({ operator: 'OR', right: { operator: 'AND' } });
  });

  test('no text makes the parser throw, and spans stay inside the text', () => {
    const words = fc.constantFrom(
      ...'SELECT FROM WHERE GROUP BY time ( ) , ; . / * :: : = =~ - 1 1h 1.5 \' " \\ $ $p -- /* */ a fill tz INTO é 😀'.split(
        ' ',
      ),
      ' ',
      '\n',
      '\r',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words).map((list) => list.join('')),
    );
    fc.assert(
      fc.property(texts, (text) =>
        parseQuery(text).diagnostics.every(
          ({ span }) => span.start <= span.end && span.end <= text.length,
        ),
      ),
      { numRuns: 2000 },
    );
  });
});
