import { expect, test } from 'vitest';

import { matchesPattern } from './pattern.ts';

test.each([
  ['hot', '', true],
  ['hot', '*', true],
  ['hot', 'h*', true],
  ['hot', 'h?t', true],
  ['hot', 'h', false],
  ['a.b', 'a.*', true],
  ['axb', 'a.*', false],
  ['a(b', 'a(*', true],
  ['main/a', '*', false],
  ['main/a', 'main/*', true],
  ['rack-7', 'rack-[0-9]', true],
  ['hot', '[h', false],
])('%j matches %j: %j', (text, pattern, expected) => {
  expect(matchesPattern(text, pattern)).toBe(expected);
});
