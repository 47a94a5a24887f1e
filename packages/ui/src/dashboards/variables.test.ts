import { expect, test } from 'vitest';

import { namesVariable, withVariables } from './variables.ts';

const chosen = new Map([
  ['host', ['web.1']],
  ['many', ['a/b', "o'c"]],
  ['none', []],
  ['field', ['usage idle']],
  ['step', ['5m']],
  ['width', ['auto']],
  ['typed', ['web.*|a/b']],
  ['escape', [String.raw`a\/b` + '\\']],
]);

test.each([
  ["host = '$host'", "host = 'web.1'"],
  ["host = '${host}' OR host = '[[host]]'", "host = 'web.1' OR host = 'web.1'"],
  ['host =~ /^$host$/', String.raw`host =~ /^web\.1$/`],
  ['host =~ /^$many$/', String.raw`host =~ /^(a\/b|o'c)$/`],
  ['host =~ /^$none$/', 'host =~ /^.*$/'],
  ["path = '$many'", "path = 'a/b'"],
  ['SELECT mean($field), "$field"', 'SELECT mean("usage idle"), "usage idle"'],
  ['GROUP BY time($step)', 'GROUP BY time(5m)'],
  ['GROUP BY time($width)', 'GROUP BY time($interval)'],
  ['$timeFilter AND $unknown', '$timeFilter AND $unknown'],
  ['$hostname', '$hostname'],
  // A division is no regular expression.
  ["a / b = '$host' / 2", "a / b = 'web.1' / 2"],
  // Comments, and escaped quotes.
  ["a = 1 -- it's $host\nAND b = '$host'", "a = 1 -- it's $host\nAND b = 'web.1'"],
  ["a = 1 /* don't \" $host */ AND b = '$host'", "a = 1 /* don't \" $host */ AND b = 'web.1'"],
  [
    String.raw`a = 'it\'s $many' AND "q\"$field" = 1`,
    String.raw`a = 'it\'s a/b' AND "q\"usage idle" = 1`,
  ],
  ['FROM /$host/', String.raw`FROM /web\.1/`],
  // As Grafana has it: values are texts in a pattern, unless they are to stand as they are.
  ['host =~ /^${typed}$/', String.raw`host =~ /^web\.\*\|a\/b$/`],
  ['host =~ /^${typed:regex}$/', String.raw`host =~ /^web\.\*\|a\/b$/`],
  ['host =~ /^(${typed:raw})$/', String.raw`host =~ /^(web.*|a\/b)$/`],
  ['host =~ /^([[typed:raw]])$/', String.raw`host =~ /^(web.*|a\/b)$/`],
  ['host =~ /^(${many:pipe})$/', String.raw`host =~ /^(a\/b|o'c)$/`],
  ['host =~ /^${none:raw}$/', 'host =~ /^.*$/'],
  ["host = '${typed:raw}'", "host = 'web.*|a/b'"],
  ['host =~ /${escape:raw}/', String.raw`host =~ /a\/b\\/`],
])('%s', (text, expected) => {
  expect(withVariables(text, chosen)).toBe(expected);
});

test.each([["x' OR 1=1 --"], ['\\'], ["\\' OR '"]])('%j stays a value', (value) => {
  const text = withVariables("host = '$v'", new Map([['v', [value]]]));
  expect(text).toBe(`host = '${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`);
  expect(withVariables('$v', new Map([['v', [value]]]))).toMatch(/^".*"$/);
});

test('a text names its variables', () => {
  expect([namesVariable("'${host}'", 'host'), namesVariable('$hosts', 'host')]).toEqual([
    true,
    false,
  ]);
});
