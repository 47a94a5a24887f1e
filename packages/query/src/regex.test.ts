// The short cuts for regular expressions find the same matches as the automaton.
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';

import { checkRegex, textMatcher } from './regex.ts';

const TEXTS = ['', 'a', 'ab', 'b', 'a.b', 'axb', 'a|b', 'x\ny', 'é', 'ab/c', 'A', '$', '^', 'a b'];

function expectSame(pattern: string, texts: readonly string[] = TEXTS): void {
  const compiled = RE2JS.compile(pattern);
  const matches = textMatcher(pattern);
  const wanted = texts.filter((text) => compiled.matcher(text).find());
  expect([pattern, texts.filter((text) => matches(text))]).toEqual([pattern, wanted]);
}

const PATTERNS = String.raw`
^ $ .* ^.* .*$ ^.*$ a ^a a$ ^a$ ^$ a.b a\.b ^a\.b$ a\|b ^(a|b)$ ^(?:a|b)$ ^(a\|b)$ ^(a\.b|b)$ ^(|a)$ ^()$
(a|b) b/c (?i)A \$ ^\^$ ^a|b$ ^(a)|(b)$ ^(a$|b)$ é`;

test.each(PATTERNS.trim().split(/\s+/).concat(''))(
  '%s matches what the automaton matches',
  (pattern) => {
    expectSame(pattern);
  },
);

test('an invalid pattern is an invalid request', () => {
  expect(() => textMatcher('^(a|b')).toThrow('error parsing regexp: missing closing ): `^(a|b`');
});

test.each([
  ['[z-a]', 'invalid character class range: `z-a`'],
  ['\\C', 'invalid escape sequence: `\\C`'],
  ['\\p{Foo}', 'invalid character class range: `\\p{Foo}`'],
  ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
  ['a**', 'invalid nested repetition operator: `**`'],
])('%s is said to be wrong in the words of RE2', (pattern, reason) => {
  expect(checkRegex(pattern)).toBe(`error parsing regexp: ${reason}`);
  expect(checkRegex('a|b')).toBeUndefined();
});

test('random patterns match what the automaton matches', () => {
  const atom = fc.constantFrom('a', 'b', '.', '[ab]', '\\.', '\\|', '|', '(', ')', '^', '$', 'x*');
  const pattern = fc.array(atom, { maxLength: 6 }).map((atoms) => atoms.join(''));
  const text = fc.array(fc.constantFrom('a', 'b', '.', '|', 'x', '\n', 'é'), { maxLength: 5 });
  fc.assert(
    fc.property(pattern, fc.array(text, { maxLength: 5 }), (written, texts) => {
      fc.pre(compiles(written));
      expectSame(
        written,
        texts.map((parts) => parts.join('')),
      );
    }),
    { numRuns: 500 },
  );
});

function compiles(pattern: string): boolean {
  try {
    RE2JS.compile(pattern);
    return true;
  } catch {
    return false; // Not a pattern: nothing to compare.
  }
}
