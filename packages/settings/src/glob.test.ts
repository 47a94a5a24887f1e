// Shell globs: what matches, what is malformed, and that matching is never slow.
import { expect, test } from 'vitest';
import { compileGlob } from './glob.ts';

test.each([
  ['*', 'anything', true],
  ['*', 'a/b', false],
  ['a*c', 'abbbc', true],
  ['a*c', 'abbbd', false],
  ['?b', 'ab', true],
  ['[a-c]x', 'bx', true],
  ['[^a-c]x', 'bx', false],
  [String.raw`\*`, '*', true],
  [String.raw`\*`, 'x', false],
  ['*.a.*', 'x.a.y', true],
  ['', '', true],
])('%s on %s is %s', (pattern, text, expected) => {
  expect(compileGlob(pattern)?.(text)).toBe(expected);
});

test.each(['[', '[a', String.raw`a\\`.slice(0, 2), '[]'])('%j is malformed', (pattern) => {
  expect(compileGlob(pattern)).toBeUndefined();
});

test('many stars on a long text end quickly', () => {
  const glob = compileGlob(`${'*a'.repeat(50)}b`);

  expect(glob?.('a'.repeat(2_000))).toBe(false);
});
