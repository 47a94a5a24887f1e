// Regular expressions of scripts: the automaton and its short cuts agree, and no pattern takes more
// than linear time.
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { compileRegex } from './regex.ts';

test('random patterns match where the automaton finds a match', () => {
  const atom = fc.constantFrom('a', 'b', '.', '[ab]', '\\.', '|', '(', ')', '^', '$', 'x*', 'a+?');
  const pattern = fc
    .array(atom, { maxLength: 6 })
    .map((atoms) => atoms.join(''))
    .filter(isPattern);
  const text = fc
    .array(fc.constantFrom('a', 'b', '.', 'x', '\n', 'é', '𝄞'), { maxLength: 6 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(pattern, fc.array(text, { maxLength: 5 }), (written, texts) => {
      const reference = RE2JS.compile(written);
      const regex = compileRegex(written);
      // Asked twice: the second answer may be remembered.
      for (const each of [...texts, ...texts]) {
        expect([each, regex.test(each)]).toEqual([each, reference.matcher(each).find()]);
      }
    }),
    { numRuns: 300 },
  );
});

// Backtracking would need longer than the universe is old for any of these; they are as long as
// lines can be.
const LENGTH = 65_536;
test.each([
  ['(a|aa)+$', `${'a'.repeat(LENGTH)}b`, false],
  ['(a*)*c', `${'a'.repeat(LENGTH)}b`, false],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(LENGTH), false],
  ['(x+x+)+y', `${'x'.repeat(LENGTH)}z`, false],
  ['(.*a){20}b', `${'a'.repeat(LENGTH)}b`, true],
  // As an automaton it has 2^15 states: they are not all made, and not all kept.
  ['[ab]*a[ab]{14}$', `${'ab'.repeat(LENGTH / 2)}${'b'.repeat(13)}`, true],
])('%s is decided in linear time', (pattern, text, isMatch) => {
  const regex = compileRegex(pattern);

  expect(regex.test(text)).toBe(isMatch);
});

test('replacing with a pattern that explodes elsewhere is linear too', () => {
  const regex = compileRegex('(a|aa)+');

  expect(regex.replaceAll(`${'a'.repeat(LENGTH)}b`, '<$1>')).toMatch(/^<a{1,2}>b$/);
});

function isPattern(pattern: string): boolean {
  try {
    RE2JS.compile(pattern);
    return true;
  } catch {
    return false; // Not a pattern: nothing to compare.
  }
}
