import type { Span } from '@tidemark/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import type { Query, SelectStatement } from './ast.ts';
import { KnownTexts } from './known-texts.ts';
import { MAX_KNOWN_CHARACTERS } from './limits.ts';
import { parseQuery } from './parse.ts';

/** A tree without what only those of known texts have, and with the spans of its text. */
function plain(query: Query, placeOf = (offset: number): number => offset): unknown {
  const omitted = new Set(['form', 'slot', 'slots']);
  return JSON.parse(
    JSON.stringify(query, (key, value: unknown) => {
      if (omitted.has(key)) return undefined;
      if (key === 'span') {
        const { start, end } = value as Span;
        return { start: placeOf(start), end: placeOf(end) };
      }
      return typeof value === 'bigint' ? `${value}n` : value;
    }),
  );
}

function formOf({ statements: [first] }: Query): object | undefined {
  return (first as SelectStatement | undefined)?.form;
}

/** Parses texts one after the other, and compares each with what the parser makes of it. */
function parseAll(texts: readonly string[]): readonly (object | undefined)[] {
  const known = new KnownTexts({});
  return texts.map((text) => {
    const result = known.parse(text);
    const wanted = parseQuery(text);
    expect(result.error).toBe(wanted.error);
    expect(result.diagnostics).toEqual(wanted.diagnostics);
    expect(plain(result.query, result.placeOf)).toEqual(plain(wanted.query));
    return formOf(result.query);
  });
}

function ofOneForm(texts: readonly string[]): boolean {
  const forms = parseAll([...texts, ...texts]);
  return forms[0] !== undefined && forms.every((form) => form === forms[0]);
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
  [
    ['SELECT a FROM m WHERE time > 1700000000s'],
    ['SELECT a FROM m WHERE time > 1700000000000000000'],
  ],
  [
    [String.raw`SELECT a FROM m WHERE h =~ /^web\d\.x$/ AND g !~ /='x'/ AND "it's" = 'a'`],
    [String.raw`SELECT a FROM m WHERE h =~ /a|it's/ AND g !~ /1700000000000/ AND "it's" = 'b'`],
  ],
])('texts with other times and values are of one form: %s', ([one = ''], [other = '']) => {
  expect(ofOneForm([one, other])).toBe(true);
});

test.each([
  ["SELECT a FROM m WHERE (h) = 'x'", "SELECT a FROM m WHERE (h) = 'y'"],
  ["SELECT a FROM m WHERE h = 'x' + 'y'", "SELECT a FROM m WHERE h = 'x' + 'z'"],
  ["SELECT a FROM m WHERE 'x' = 'x'", "SELECT a FROM m WHERE 'x' = 'y'"],
  ["SELECT a FROM m WHERE h = 'x' = 'x'", "SELECT a FROM m WHERE h = 'x' = 'y'"],
  ["SELECT a FROM m WHERE h = 'x\\''", "SELECT a FROM m WHERE h = 'y\\''"],
  ["SELECT a FROM m WHERE h = 'x'", "SELECT a FROM m WHERE h = 'x\\n'"],
  ["SELECT a FROM m WHERE h = 'x'", "SELECT a FROM m WHERE h = 'x\ry'"],
  ["SELECT a FROM m WHERE h = 'x'", "SELECT a FROM m WHERE h = 'x\ny'"],
  ["SELECT a FROM m WHERE h = 'x'", "SELECT a FROM m WHERE h  = 'x'"],
  ['SELECT a FROM m WHERE h =~ /x\\/y/', 'SELECT a FROM m WHERE h =~ /x\\/z/'],
  ['SELECT a FROM m WHERE h =~ /x/', 'SELECT a FROM m WHERE h =~ /x\\\\/'],
  ['SELECT a FROM m WHERE h =~ /x/', 'SELECT a FROM m WHERE h =~ /*x/ */'],
  ['SELECT a FROM m WHERE h =~ /x/', 'SELECT a FROM m WHERE h =~ /x\ry/'],
  ['SELECT a FROM m WHERE h =~ /x/', 'SELECT a FROM m WHERE h =~ /(x/'],
  ['SELECT a FROM m WHERE h =~ /x/', 'SELECT a FROM m WHERE h =~ //'],
  ['SELECT /x/ FROM m', 'SELECT /y/ FROM m'],
  ['SHOW MEASUREMENTS WITH MEASUREMENT =~ /x/', 'SHOW MEASUREMENTS WITH MEASUREMENT =~ /y/'],
  ["SELECT a FROM m /* = 'x' */", "SELECT a FROM m /* = 'y' */"],
  ['SELECT a AS "=\'x\'" FROM m', 'SELECT a AS "=\'y\'" FROM m'],
  ["SELECT a FROM m WHERE h = 'x' tz('UTC')", "SELECT a FROM m WHERE h = 'x' tz('Europe/Berlin')"],
  ['SELECT a FROM m WHERE b > 1700000000000', 'SELECT a FROM m WHERE b > 1700000000001'],
  ['SELECT a FROM m LIMIT 1234567890', 'SELECT a FROM m LIMIT 1234567891'],
  ['SELECT a FROM "1234567890"', 'SELECT a FROM "1234567891"'],
  ["SELECT a FROM m WHERE h = 'a\\'1234567890'", "SELECT a FROM m WHERE h = 'a\\'1234567891'"],
  ['SELECT a FROM m GROUP BY time(1234567890s)', 'SELECT a FROM m GROUP BY time(1234567891s)'],
  ['SELECT a FROM m WHERE time > 1234567890ms', 'SELECT a FROM m WHERE time > 0000000000ms'],
  [
    "SELECT a FROM m -- 1234567890 '\n WHERE time > 0",
    "SELECT a FROM m -- 1234567891 '\n WHERE time > 0",
  ],
])('what is not in a slot has to be the same: %s', (one, other) => {
  expect(ofOneForm([one, other])).toBe(false);
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
  const known = new KnownTexts({});
  const texts = ["'a'", "'b'", "''"].map((value) => `SHOW TAG KEYS FROM m WHERE h = ${value}`);
  for (const text of [...texts, 'SHOW SERIES', 'SHOW SERIES', 'SHOW USERS']) {
    const { query, placeOf } = known.parse(text);
    expect(plain(query, placeOf)).toEqual(plain(parseQuery(text).query));
  }
  const text = 'SHOW TAG VALUES WITH KEY = h';
  expect(known.parse(text).query.statements[0]).toBe(known.parse(text).query.statements[0]);
});

test('texts with passwords, errors and placeholders are not kept', () => {
  const known = new KnownTexts({});
  const text = "CREATE USER u WITH PASSWORD 'p'";
  expect(known.parse(text).query).not.toBe(known.parse(text).query);
  expect(known.parse('SELECT')).toEqual(parseQuery('SELECT'));
  const withParameter = (value: bigint): Query =>
    known.parse('SELECT a FROM m WHERE b > $b', { parameters: new Map([['b', value]]) }).query;
  expect(withParameter(1n)).not.toEqual(withParameter(2n));
});

/** Pieces of texts, which fit together or not. */
const PIECES = [
  `'a' | 'b c' | '' | '2026-01-02' | 'it\\'s' | ' | " | "h" | "='x'" | h | time | h::tag | tz('UTC')`,
  `1700000000000 | 1800000000s | 1700000000.5 | -1700000000 | 1h | 3 | = | != | <> | < | =~ | + | AND`,
  `OR | ( | ) | , | /a/ | /='a'/ | /* | */ | -- | \n | \\ | ; | SELECT a FROM m WHERE | GROUP BY h`,
  `h =~ /a/ | h !~ /'a'/ | =~ /(/ | h = 'a' | g != 'b' | time > '2026-01-02' | time < 1700000000s | AND h = 'a' | OR 'b' <> "h"`,
].flatMap((line) => line.split(' | '));

test('a regular expression that is too long is refused, whatever was parsed before', () => {
  const known = new KnownTexts({ limits: { maxRegexLength: 3 } });
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
  );
  fc.assert(
    fc.property(text, fc.array(literal, { minLength: 8, maxLength: 8 }), (one, literals) => {
      // The same text with other literals: often of the same form.
      let at = 0;
      const other = one.replace(/'[^']*'|\b\d{10,}s?\b/g, () => literals[at++ % 8]!);
      parseAll([one, other, one, other]);
    }),
    { numRuns: 1000 },
  );
});

test('what was not asked for lately is forgotten', () => {
  const known = new KnownTexts({});
  const text = (i: number): string => `SELECT ${'a'.repeat(4000)}${i} FROM m`;
  const parsed = (i: number): Query => known.parse(text(i)).query;
  const [first, second] = [parsed(0), parsed(1)];
  const count = Math.ceil(MAX_KNOWN_CHARACTERS.value / text(0).length);
  for (let i = 2; i < count; i++) {
    parsed(i);
    expect(parsed(0)).toBe(first);
  }
  expect(parsed(1)).not.toBe(second);
});
