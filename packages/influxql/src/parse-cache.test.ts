import type { Span } from '@tidemark/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Query, SelectStatement } from './ast.ts';
import { ParseCache } from './parse-cache.ts';
import { MAX_CACHED_CHARACTERS } from './limits.ts';
import { parseQuery } from './parse.ts';
import type { BindParameter } from './parse.ts';

/** A tree without what only those of cached texts have, and with the spans of its text. */
function plain(query: Query, offsetInText = (offset: number): number => offset): unknown {
  const omitted = new Set(['shape']);
  return JSON.parse(
    JSON.stringify(query, (key, value: unknown) => {
      if (omitted.has(key)) return undefined;
      if (key === 'span') {
        const { start, end } = value as Span;
        return { start: offsetInText(start), end: offsetInText(end) };
      }
      return typeof value === 'bigint' ? `${value}n` : value;
    }),
  );
}

function shapeOf({ statements: [first] }: Query): object | undefined {
  return (first?.kind === 'explain' ? first.statement : (first as SelectStatement))?.shape;
}

/** Parses texts one after the other, and compares each with what the parser makes of it. */
function parseAll(texts: readonly string[]): readonly (object | undefined)[] {
  const known = new ParseCache({});
  return texts.map((text) => {
    const result = known.parse(text);
    const wanted = parseQuery(text);
    expect(result.error).toBe(wanted.error);
    expect(result.diagnostics).toEqual(wanted.diagnostics);
    expect(plain(result.query, result.offsetInText)).toEqual(plain(wanted.query));
    return shapeOf(result.query);
  });
}

function ofOneShape(texts: readonly string[]): boolean {
  const shapes = parseAll([...texts, ...texts]);
  return shapes[0] !== undefined && shapes.every((shape) => shape === shapes[0]);
}

test.each([
  [
    [
      "SELECT max(a) FROM m WHERE h = 'x' AND time >= '2026-01-02T03:04:05Z' AND time < '2026-02-03T04:05:06Z' GROUP BY time(1m)",
    ],
    [
      "SELECT max(a) FROM m WHERE h = 'x' AND time >= '2027-11-12T13:14:15Z' AND time < '2028-01-01T00:00:00Z' GROUP BY time(1m)",
    ],
  ],
  [
    ['SELECT a FROM m WHERE (time >= 1700000000000ms and 1700000060000ms > time)'],
    ['SELECT a FROM m WHERE (time >= 1812345678901ms and 9000000000000ms > time)'],
  ],
  [
    ["SELECT a FROM m WHERE time > '2026-01-02' - 1h OR TIME < 1700000000000000000"],
    ["SELECT a FROM m WHERE time > '2025-12-30' - 1h OR TIME < 1799999999999999999"],
  ],
  [
    ["SELECT a FROM m WHERE h = 'web-1234567890' AND time > 1700000000s; SELECT b FROM n"],
    ["SELECT a FROM m WHERE h = 'web-1234567890' AND time > 1800000000s; SELECT b FROM n"],
  ],
  [
    ["SELECT a FROM m WHERE h = 'x' AND (g='yy' OR 'zzz' <> g)"],
    ["SELECT a FROM m WHERE h = '' AND (g='2026-01-02' OR 'zzz' <> g)"],
  ],
  [["SELECT a FROM m WHERE h != '2026-01-02'"], ['SELECT a FROM m WHERE h != \'it is "late"\'']],
  [
    ["SELECT a FROM m WHERE h::tag = 'a' OR \"a b\" = 'a'"],
    ["SELECT a FROM m WHERE h::tag = 'bcd' OR \"a b\" = 'ü'"],
  ],
  [
    ["SELECT a FROM (SELECT b AS a FROM m WHERE h = 'a' AND time > 1700000000s) WHERE a > 1"],
    ["SELECT a FROM (SELECT b AS a FROM m WHERE h = 'b' AND time > 1800000000s) WHERE a > 1"],
  ],
  [
    ["SELECT a FROM m WHERE time > '2026-01-02T00:00:00+01:00'"],
    ["SELECT a FROM m WHERE time > 'no time'"],
  ],
  [['SELECT a FROM m WHERE time > 1700000000s'], ['SELECT a FROM m WHERE time > 1h30m']],
  [['SELECT a FROM m WHERE b > -9223372036854775808'], ['SELECT a FROM m WHERE b > -5']],
  [['SELECT a FROM m WHERE b > 90 AND c < 0.5'], ['SELECT a FROM m WHERE b > 7 AND c < 1.25']],
  [
    ['SELECT a FROM m WHERE b > -5 AND c = +3 AND d < b - 4'],
    ['SELECT a FROM m WHERE b > -600 AND c = +70 AND d < b - 8'],
  ],
  [
    ['SELECT a FROM m WHERE time > now() - 1h AND pow(b, 2) > 4 LIMIT 10 OFFSET 0'],
    [
      'SELECT a FROM m WHERE time > now() - 30m AND pow(b, 3) > 5 LIMIT 2000 OFFSET 9999999999999999999',
    ],
  ],
  [
    ['SELECT a FROM (SELECT a FROM m LIMIT 3) LIMIT 4 SLIMIT 5 SOFFSET 6; SHOW TAG KEYS LIMIT 7'],
    [
      'SELECT a FROM (SELECT a FROM m LIMIT 13) LIMIT 14 SLIMIT 15 SOFFSET 16; SHOW TAG KEYS LIMIT 17',
    ],
  ],
  [
    ["SELECT a FROM m WHERE (h) = 'x' + 'y' AND 'x' = 'x' AND h = 'it\\'s' -- 'x'"],
    ["SELECT a FROM m WHERE (h) = '' + 'z' AND 'x' = 'yy' AND h = '\\\\' -- 'x'"],
  ],
  [
    ["SELECT a  FROM m /* = 'x' */ WHERE h = 'x' AND h =~ /x\\/y/"],
    ["SELECT a  FROM m /* = 'x' */ WHERE h = 'y' AND h =~ /.*/"],
  ],
  [
    ["EXPLAIN SELECT a FROM m WHERE h = 'x' GROUP BY time(1m) fill(1) LIMIT 1 tz('UTC')"],
    ["EXPLAIN SELECT a FROM m WHERE h = 'yy' GROUP BY time(1m) fill(1) LIMIT 2 tz('UTC')"],
  ],
  [
    [String.raw`SELECT a FROM m WHERE h =~ /^web\d\.x$/ AND g !~ /='x'/ AND "it's" = 'a'`],
    [String.raw`SELECT a FROM m WHERE h =~ /a|it's/ AND g !~ /1700000000000/ AND "it's" = 'b'`],
  ],
])('texts with other times and values are of one shape: %s', ([one = ''], [other = '']) => {
  expect(ofOneShape([one, other])).toBe(true);
});

test.each([
  ["SELECT a FROM m WHERE h = 'x'", "SELECT a FROM m WHERE h = 'x\ry'"],
  ["SELECT a FROM m WHERE h = 'x'", "SELECT a FROM m WHERE h = 'x\ny'"],
  ["SELECT a FROM m WHERE h = 'x'", 'SELECT a FROM m WHERE h = 5'],
  ["SELECT a FROM m WHERE h = 'x'", "SELECT a FROM m WHERE h ='x'"],
  ['SELECT a FROM m WHERE h =~ /x/', 'SELECT a FROM m WHERE h =~ /x\\\\/'],
  ['SELECT a FROM m WHERE h =~ /x/', 'SELECT a FROM m WHERE h =~ /x\ry/'],
  ['SELECT a FROM m WHERE h =~ /x/', 'SELECT a FROM m WHERE h =~ /(x/'],
  ['SELECT /x/ FROM m', 'SELECT /y/ FROM m'],
  ['SELECT a FROM /x/', 'SELECT a FROM /y/'],
  ['SELECT percentile(a, 90) FROM m', 'SELECT percentile(a, 95) FROM m'],
  ['SELECT a FROM m WHERE b = true', 'SELECT a FROM m WHERE b = false'],
  ['SHOW MEASUREMENTS WITH MEASUREMENT =~ /x/', 'SHOW MEASUREMENTS WITH MEASUREMENT =~ /y/'],
  ['SELECT a AS "=\'x\'" FROM m', 'SELECT a AS "=\'y\'" FROM m'],
  ["SELECT a FROM m WHERE h = 'x' tz('UTC')", "SELECT a FROM m WHERE h = 'x' tz('Europe/Berlin')"],
  ['SELECT max(a) FROM m WHERE b > 1 fill(1)', 'SELECT max(a) FROM m WHERE b > 1 fill(2)'],
  ['SELECT a FROM "1234567890"', 'SELECT a FROM "1234567891"'],
  ['SELECT "SELECT" FROM m', "SELECT 'SELECT' FROM m"],
  ['SELECT a FROM m GROUP BY time(1234567890s)', 'SELECT a FROM m GROUP BY time(1234567891s)'],
  [
    'SELECT a FROM m WHERE b > 9223372036854775807',
    'SELECT a FROM m WHERE b > 9223372036854775808',
  ],
])('texts must agree in everything but parameters: %s', (one, other) => {
  expect(ofOneShape([one, other])).toBe(false);
});

test('a time that does not fit is what the parser makes of it', () => {
  parseAll([
    "SELECT a FROM m /* ' */ WHERE time > '2026-01-01\\n 1700000000'",
    "SELECT a FROM m /* ' */ WHERE time > '2026-01-01\\n 1800000000'",
    'SELECT a FROM m WHERE time > 1700000000000000000',
    'SELECT a FROM m WHERE time > 9999999999999999999',
    'SELECT a FROM m WHERE time > 1700000000000s',
    'SELECT a FROM m WHERE time > 9223372036s',
    'SELECT a FROM m WHERE time > 9999999999s',
  ]);
});

test('of SHOW statements about data too', () => {
  const known = new ParseCache({});
  const texts = ["'a'", "'b'", "''"].map((value) => `SHOW TAG KEYS FROM m WHERE h = ${value}`);
  for (const text of [...texts, 'SHOW SERIES', 'SHOW SERIES', 'SHOW USERS']) {
    const { query, offsetInText } = known.parse(text);
    expect(plain(query, offsetInText)).toEqual(plain(parseQuery(text).query));
  }
  const text = 'SHOW TAG VALUES WITH KEY = h';
  expect(known.parse(text).query.statements[0]).toBe(known.parse(text).query.statements[0]);
});

test('texts with passwords and errors are not kept', () => {
  const known = new ParseCache({});
  const text = "CREATE USER u WITH PASSWORD 'p'";
  expect(known.parse(text).query).not.toBe(known.parse(text).query);
  expect(known.parse('SELECT')).toEqual(parseQuery('SELECT'));
});

test('bind parameters are literals like those of the text', () => {
  const known = new ParseCache({});
  const shapeWith = (text: string, values: Record<string, BindParameter>): object | undefined => {
    const parameters = new Map(Object.entries(values));
    const { query, offsetInText, error } = known.parse(text, { parameters });
    const wanted = parseQuery(text, { parameters });
    expect(error).toBe(wanted.error);
    expect(plain(query, offsetInText)).toEqual(plain(wanted.query));
    return shapeOf(query);
  };
  const text = 'SELECT a FROM m WHERE b > $least AND h = $host LIMIT $count';
  const shape = shapeWith(text, { least: 1n, host: 'x', count: 3n });
  expect(shape).toBeDefined();
  expect(shapeWith(text, { least: 20n, host: "it's", count: 400n })).toBe(shape);
  expect(shapeWith("SELECT a FROM m WHERE b > 5 AND h = 'y' LIMIT 6", {})).toBe(shape);
  expect(shapeWith(text, { least: 1.5, host: 'x', count: 3n })).not.toBe(shape);
  expect(shapeWith(text, { least: 1n, host: 'x', count: -3n })).not.toBe(shape);
  expect(shapeWith(text, { least: 1n, host: { regex: 'x' }, count: 3n })).not.toBe(shape);
  expect(shapeWith(text, { least: 1n, host: 'x' })).toBeUndefined();
  const named = 'SELECT host FROM m WHERE host = $host';
  expect(shapeWith(named, { host: 'x' })).toBe(shapeWith(named, { host: 'y' }));
  expect(shapeWith('SELECT a FROM $m', { m: { identifier: 'a\0b' } })).toBeUndefined();
  shapeWith('SELECT a FROM $m', { m: { identifier: 'one' } });
  shapeWith('SELECT a FROM $m', { m: { identifier: 'other' } });
});

/** Pieces of texts, which fit together or not. */
const PIECES = [
  `'a' | 'b c' | '' | '2026-01-02' | 'it\\'s' | ' | " | "h" | "='x'" | h | time | h::tag | tz('UTC')`,
  `1700000000000 | 1800000000s | 1700000000.5 | -1700000000 | 1h | 3 | = | != | <> | < | =~ | + | AND`,
  `OR | ( | ) | , | /a/ | /='a'/ | /* | */ | -- | \n | \\ | ; | SELECT a FROM m WHERE | GROUP BY h`,
  `h =~ /a/ | h !~ /'a'/ | =~ /(/ | h = 'a' | g != 'b' | time > '2026-01-02' | time < 1700000000s | AND h = 'a' | OR 'b' <> "h"`,
  `v > -5 | AND v < 2.5 | OR 3 = v | LIMIT 3 | OFFSET 4 | SLIMIT 1 | fill(1) | - 7 | now() - 1h | pow(v, 2) | 1h30m`,
].flatMap((line) => line.split(' | '));

test('a regular expression that is too long is refused, whatever was parsed before', () => {
  const known = new ParseCache({ limits: { maxRegexLength: 3 } });
  expect(known.parse('SELECT a FROM m WHERE h =~ /abc/').error).toBeUndefined();
  expect(known.parse('SELECT a FROM m WHERE h =~ /abcd/').error).toContain('max-regex-length');
});

test('any texts are parsed as by the parser, whatever was parsed before', () => {
  const text = fc
    .array(fc.constantFrom(...PIECES), { maxLength: 8 })
    .map((pieces) => `SELECT a FROM m WHERE h = 'x' AND ${pieces.join(' ')}`);
  const literal = fc.constantFrom(
    "'a'",
    "'b c'",
    "''",
    "'2026-01-02'",
    '1700000000s',
    '1800000000',
    '3',
    '0.5',
    '1h',
  );
  fc.assert(
    fc.property(text, fc.array(literal, { minLength: 8, maxLength: 8 }), (one, literals) => {
      // The same text with other literals: often of the same shape.
      let at = 0;
      const other = one.replace(/'[^']*'|\b\d[\d.hms]*\b/g, () => literals[at++ % 8]!);
      parseAll([one, other, one, other]);
    }),
    { numRuns: 1000 },
  );
});

test('forgets texts that were not used lately', () => {
  const known = new ParseCache({});
  const text = (i: number): string => `SELECT ${'a'.repeat(4000)}${i} FROM m`;
  const parsed = (i: number): Query => known.parse(text(i)).query;
  const [first, second] = [parsed(0), parsed(1)];
  const count = Math.ceil(MAX_CACHED_CHARACTERS.value / text(0).length);
  for (let i = 2; i < count; i++) {
    parsed(i);
    expect(parsed(0)).toBe(first);
  }
  expect(parsed(1)).not.toBe(second);
});
