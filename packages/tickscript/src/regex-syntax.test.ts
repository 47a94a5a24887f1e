// RE2's rules and texts for regular expressions.
import { expect, test } from 'vitest';
import { checkRegexSyntax } from './index.ts';

test.each([
  '',
  'a|b|',
  '^(?:a+?|b{2,3})*$',
  '(?i)a(?-s:.)(?P<name>x)(?<other>y)',
  '[]a-z^\\]-]',
  '[^[:alpha:]\\d\\pL\\p{Greek}]',
  '\\Q(*\\E+',
  '\\x41\\x{10FFFF}\\07\\_\\.',
  'a{,5}{',
  '\\bx\\B\\A\\z',
  'a(?i)*',
  '(a{30}){30}',
  'ünïcödé☃',
])('accepts %j', (pattern) => {
  expect(checkRegexSyntax(pattern)).toBeUndefined();
});

test.each([
  ['a(b', 'missing closing ): `a(b`'],
  ['a)b', 'unexpected ): `a)b`'],
  ['x[a-', 'missing closing ]: `[a-`'],
  ['[z-a]', 'invalid character class range: `z-a`'],
  ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
  ['\\p{Nope}', 'invalid character class range: `\\p{Nope}`'],
  ['*a', 'missing argument to repetition operator: `*`'],
  ['a|+', 'missing argument to repetition operator: `+`'],
  ['(?i)*', 'missing argument to repetition operator: `*`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['a{2,1}', 'invalid repeat count: `{2,1}`'],
  ['((a{100}){10}){2}', 'invalid repeat count: `{2}`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['\\C', 'invalid escape sequence: `\\C`'],
  ['a\\', 'trailing backslash at end of expression: ``'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?<!a)', 'invalid or unsupported Perl syntax: `(?<!`'],
  ['(?P<a-b>x)', 'invalid named capture: `(?P<a-b>`'],
  ['(?P<a>x)(?P<a>y)', 'duplicate capture group name: `a`'],
])('refuses %j', (pattern, problem) => {
  expect(checkRegexSyntax(pattern)).toBe(`error parsing regexp: ${problem}`);
});

test('ten thousand parentheses are refused without a stack overflow', () => {
  expect(checkRegexSyntax('('.repeat(10_000))).toMatch(/nests too deeply/);
});
