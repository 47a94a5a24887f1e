import { expect, test } from 'vitest';

import type { Query, SelectStatement, Statement } from './ast.ts';
import { KnownTexts } from './known-texts.ts';
import { MAX_KNOWN_CHARACTERS } from './limits.ts';
import { parseQuery } from './parse.ts';
import type { BindParameter } from './parse.ts';

const NONE: ReadonlyMap<string, BindParameter> = new Map();

function formless({ statements }: Query): Statement[] {
  return statements.map((statement) => {
    const { form: _form, ...rest } = statement as SelectStatement;
    return rest;
  });
}

function formOf({ statements: [first] }: Query): object | undefined {
  return (first as SelectStatement | undefined)?.form;
}

/** Parses texts one after the other, and compares each with what the parser makes of it. */
function parseAll(texts: readonly string[]): readonly (object | undefined)[] {
  const known = new KnownTexts({});
  return texts.map((text) => {
    const result = known.parse(text, NONE);
    const wanted = parseQuery(text);
    expect(result.error).toBe(wanted.error);
    expect(result.diagnostics).toEqual(wanted.diagnostics);
    expect(formless(result.query)).toEqual(formless(wanted.query));
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
])('texts with other times are of one form: %s', ([one = ''], [other = '']) => {
  expect(ofOneForm([one, other])).toBe(true);
});

test.each([
  ["SELECT a FROM m WHERE h = '2026-01-02'", "SELECT a FROM m WHERE h = '2026-01-03'"],
  ['SELECT a FROM m WHERE b > 1700000000000', 'SELECT a FROM m WHERE b > 1700000000001'],
  ['SELECT a FROM m LIMIT 1234567890', 'SELECT a FROM m LIMIT 1234567891'],
  ['SELECT a FROM "1234567890"', 'SELECT a FROM "1234567891"'],
  ["SELECT a FROM m WHERE h = 'a\\'1234567890'", "SELECT a FROM m WHERE h = 'a\\'1234567891'"],
  ['SELECT a FROM m WHERE h =~ /1234567890/', 'SELECT a FROM m WHERE h =~ /1234567891/'],
  ['SELECT a FROM m GROUP BY time(1234567890s)', 'SELECT a FROM m GROUP BY time(1234567891s)'],
  ['SELECT a FROM m WHERE time > 1234567890ms', 'SELECT a FROM m WHERE time > 0000000000ms'],
  [
    'SELECT a FROM (SELECT a FROM m WHERE time > 1700000000s)',
    'SELECT a FROM (SELECT a FROM m WHERE time > 1800000000s)',
  ],
  [
    "SELECT a FROM m -- 1234567890 '\n WHERE time > 0",
    "SELECT a FROM m -- 1234567891 '\n WHERE time > 0",
  ],
])('what is no time in a condition is part of the form: %s', (one, other) => {
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

test('texts with passwords, errors and placeholders are not kept', () => {
  const known = new KnownTexts({});
  const text = "CREATE USER u WITH PASSWORD 'p'";
  expect(known.parse(text, NONE).query).not.toBe(known.parse(text, NONE).query);
  expect(known.parse('SELECT', NONE)).toEqual(parseQuery('SELECT'));
  const withParameter = (value: bigint): Query =>
    known.parse('SELECT a FROM m WHERE b > $b', new Map([['b', value]])).query;
  expect(withParameter(1n)).not.toEqual(withParameter(2n));
});

test('what was not asked for lately is forgotten', () => {
  const known = new KnownTexts({});
  const text = (i: number): string => `SELECT ${'a'.repeat(4000)}${i} FROM m`;
  const parsed = (i: number): Query => known.parse(text(i), NONE).query;
  const [first, second] = [parsed(0), parsed(1)];
  const count = Math.ceil(MAX_KNOWN_CHARACTERS.value / text(0).length);
  for (let i = 2; i < count; i++) {
    parsed(i);
    expect(parsed(0)).toBe(first);
  }
  expect(parsed(1)).not.toBe(second);
});
