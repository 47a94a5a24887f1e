import { expect, test } from 'vitest';

import { checkRegexLightly } from './regex-check.ts';

test.each([
  ['al[', 'missing closing ]: `[`'],
  ['a[b-c', 'missing closing ]: `[b-c`'],
  ['a(b', 'missing closing ): `a(b`'],
  ['a)b', 'unexpected ): `a)b`'],
  ['*a', 'missing argument to repetition operator: `*`'],
  ['(+)', 'missing argument to repetition operator: `+`'],
  ['a|?', 'missing argument to repetition operator: `?`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['a\\', 'trailing backslash at end of expression: ``'],
  ['\\1', 'invalid escape sequence: `\\1`'],
  ['\\y', 'invalid escape sequence: `\\y`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['a{3,2}', 'invalid repeat count: `{3,2}`'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?<!a)', 'invalid or unsupported Perl syntax: `(?<!`'],
])('refuses %s', (pattern, problem) => {
  expect(checkRegexLightly(pattern)).toBe(`error parsing regexp: ${problem}`);
});

test.each([
  '',
  '^a.*b$',
  '[]a]',
  '[^]]',
  '[[:alpha:]_]+',
  '[a\\]b]',
  'a{2,3}?',
  'a{,3}',
  '{',
  '(?i)a|b',
  '(?P<name>a)(?<other>b)(?:c)(?i-s:d)',
  '\\Qa*(\\E*',
  '\\pL\\x{10FFFF}\\.\\-\\012',
  'a*?b+?c??',
  '^*',
])('accepts %j', (pattern) => {
  expect(checkRegexLightly(pattern)).toBeUndefined();
});
