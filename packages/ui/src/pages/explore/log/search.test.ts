import { expect, test } from 'vitest';

import { Finder, parseSearch } from './search.ts';

test.each([
  ['nothing', '  ', []],
  ['a word in any case', 'deadlock', ['(?i)deadlock']],
  ['capitals exactly', 'Deadlock ERROR', ['Deadlock', 'ERROR']],
  ['digits without a case', '500 10.0.0.1', ['500', String.raw`10\.0\.0\.1`]],
  ['a phrase as written', '"rolled back" x', ['rolled back', '(?i)x']],
  ['quotes in a phrase', String.raw`"say \"hi\""`, ['say "hi"']],
  ['a phrase that is not closed', '"rolled back', ['rolled back']],
  ['a pattern', '/id=[0-9a-f]+/', ['id=[0-9a-f]+']],
  ['a slash in a pattern', String.raw`/a\/b/`, ['a/b']],
  ['a path, which is no pattern', '/api/orders', ['(?i)/api/orders']],
  ['special letters', 'a+b(c)', [String.raw`(?i)a\+b\(c\)`]],
  ['other scripts', 'Ärger straße', ['Ärger', '(?i)straße']],
])('reads %s', (_name, typed, patterns) => {
  expect(parseSearch(typed).terms).toEqual(patterns.map((pattern) => ({ pattern, isNot: false })));
});

test('a minus excludes a word, a phrase or a pattern', () => {
  expect(parseSearch('-cache -"not found" -/5\\d\\d/ a-b').terms).toEqual([
    { pattern: '(?i)cache', isNot: true },
    { pattern: 'not found', isNot: true },
    { pattern: '5\\d\\d', isNot: true },
    { pattern: '(?i)a-b', isNot: false },
  ]);
});

test('a wrong pattern has a problem instead of terms', () => {
  const search = parseSearch('fine /(open/');

  expect(search.terms).toBeUndefined();
  expect(search.problem).toMatch(/missing/);
});

const found = (typed: string, text: string): readonly string[] =>
  new Finder(parseSearch(typed).terms ?? [])
    .find(text)
    .map(([start, end]) => text.slice(start, end));

test.each([
  ['each occurrence', 'lock', 'Lock, deadlock', ['Lock', 'lock']],
  ['overlapping terms once', 'dead adlo', 'deadlock', ['deadlo']],
  ['nothing of what is excluded', '-lock dead', 'deadlock', ['dead']],
  ['positions in UTF-16', 'lock', '😀 lock 😀', ['lock']],
  ['no empty matches', '/x*/', 'abc', []],
])('marks %s', (_name, typed, text, parts) => {
  expect(found(typed, text)).toEqual(parts);
});

test('a text of many matches is marked up to a limit', () => {
  expect(found('a', 'a b '.repeat(10_000))).toHaveLength(500);
});
