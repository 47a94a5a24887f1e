// What is required of a text is in every text that the pattern matches.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { compilePattern } from './regex.ts';
import { requiredText } from './required-text.ts';

test.each([
  ['deadlock', 'deadlock'],
  ['deadlock.*rolled', 'deadlock'],
  ['^id=7fff', 'id=7fff'],
  ['took \\d+ ms$', 'took '],
  ['a\\.b', 'a.b'],
  ['colou?r', 'colo'],
  ['abc*', 'ab'],
  ['abc+d', 'abc'],
  ['ab{2}c', 'ab'],
  ['ab{0,2}cd', 'cd'],
  ['a{b}', 'a{b}'],
  ['x(abc|def)yz', 'yz'],
  ['x[]a-z]yz', 'yz'],
  ['x[^]]yz', 'yz'],
  ['x[[:alpha:]]yz', 'yz'],
  ['über', 'über'],
  ['a|b', ''],
  ['(?i)error', ''],
  ['a\\x41', ''],
  ['\\pL', ''],
  ['\\Qa.b\\E', ''],
  ['.*', ''],
  ['\ud800a', ''],
  ['\ufffd', ''],
])('every match of %s contains %s', (pattern, required) => {
  expect(requiredText(pattern)).toBe(required);
});

const char = fc.constantFrom('a', 'b', 'é', '😀', '.', '-');
const item: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'ab', 'é', '😀', '-', '\\.', '\\-') },
  fc.constantFrom(
    '.',
    '[ab]',
    '[^a]',
    '[]a]',
    '\\w',
    '\\b',
    '^',
    '$',
    '(a|b)',
    '(ab)',
    '(?:a)',
    '}',
    ']',
  ),
);
const repetition = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  fc.constantFrom('*', '+', '?', '*?', '+?', '{2}', '{0,1}', '{1,}', '{0}', '{'),
);
const pattern = fc
  .array(
    fc.tuple(item, repetition).map(([what, count]) => what + count),
    { maxLength: 6 },
  )
  .map((items) => items.join(''));
const texts = fc.array(
  fc.array(char, { maxLength: 8 }).map((chars) => chars.join('')),
  {
    minLength: 20,
    maxLength: 20,
  },
);

test('of random patterns, too', () => {
  let found = 0;
  const tries = (source: string, all: readonly string[]): void => {
    const required = requiredText(source);
    let compiled;
    try {
      compiled = compilePattern(source);
    } catch {
      return; // Not a pattern, such as `*`.
    }
    for (const text of all) {
      if (!compiled.matches(text)) continue;
      if (required !== '') found++;
      expect([source, text, text.includes(required)]).toEqual([source, text, true]);
    }
  };
  fc.assert(fc.property(pattern, texts, tries), { numRuns: 3000 });
  expect(found).toBeGreaterThan(1000);
});
