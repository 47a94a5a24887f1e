// Any text gives a tree or diagnostics, and formatting is stable. SOAK_SCRIPTS=100000 runs the long
// version.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  anyScript,
  SCRIPT_RUNS,
  SCRIPT_TIMEOUT_MS,
} from '../../../tests/compat/mutated-scripts.ts';
import { formatScript, parseLambda, parseScript, tokenize } from './index.ts';

test(
  'any text is parsed without throwing, with diagnostics that lie inside it',
  { timeout: SCRIPT_TIMEOUT_MS },
  () => {
    fc.assert(
      fc.property(anyScript, (text) => {
        const { error, diagnostics } = parseScript(text);
        expect(diagnostics.length > 0).toBe(error !== undefined);
        for (const { span, line, column, message } of diagnostics) {
          expect(span.start).toBeGreaterThanOrEqual(0);
          expect(span.end).toBeLessThanOrEqual(text.length);
          expect(line).toBeGreaterThan(0);
          expect(column).toBeGreaterThan(0);
          expect(message).toMatch(/^parser: /);
        }
        parseLambda(text);
      }),
      { numRuns: SCRIPT_RUNS },
    );
  },
);

test('formatting is stable and keeps the meaning', { timeout: SCRIPT_TIMEOUT_MS }, () => {
  fc.assert(
    fc.property(anyScript, (text) => {
      fc.pre(parseScript(text).error === undefined);
      const once = formatScript(text);
      expect(parseScript(once).error).toBeUndefined();
      expect(formatScript(once)).toBe(once);
      expect(codeOf(once)).toEqual(codeOf(text));
      expect(commentsOf(once)).toEqual(commentsOf(text));
    }),
    { numRuns: SCRIPT_RUNS },
  );
});

/** Everything but white space, comments, dropped parentheses and trailing commas, in order. */
function codeOf(text: string): readonly string[] {
  return tokenize(text)
    .filter(({ kind }) => kind !== '(' && kind !== ')' && kind !== ',')
    .map(({ kind, text: token }) => {
      if (kind !== 'number') return token;
      return token.includes('.') ? String(Number(token)) : token.replace(/^0+(?=\d)/, '');
    });
}

/** All lines of comments; their order may change inside an expression. */
function commentsOf(text: string): readonly string[] {
  return tokenize(text)
    .flatMap((token) => token.comment?.blocks.flat() ?? [])
    .sort();
}

test('several errors of one script are found at once', () => {
  const { diagnostics } = parseScript('var a = [1]\nvar b = 08\nstream|from(\nvar c = 1 +\n');

  expect(diagnostics.map(({ line, code }) => [line, code])).toEqual([
    [1, 'TICK_UNEXPECTED_TOKEN'],
    [2, 'TICK_ILLEGAL_NUMBER'],
    [4, 'TICK_UNEXPECTED_TOKEN'],
    [5, 'TICK_UNEXPECTED_TOKEN'],
  ]);
});

test('deep nesting and long chains are refused, not a stack overflow', () => {
  const nested = parseLambda('('.repeat(50_000) + '1' + ')'.repeat(50_000));
  const signs = parseLambda('-'.repeat(50_000) + '1');
  const calls = parseScript(`x(${'f('.repeat(50_000)}`);
  const chain = parseScript(`stream${'|from()'.repeat(50_000)}`);
  const sum = parseLambda('1'.concat(' + 1'.repeat(50_000)));

  for (const { diagnostics } of [nested, signs, calls, chain, sum]) {
    expect(diagnostics[0]?.code).toBe('TICK_TOO_DEEP');
  }
});

test('a thousand conditions in a row are accepted', () => {
  const { error } = parseLambda(
    Array.from({ length: 1_000 }, (_, i) => `"h" == '${i}'`).join(' OR '),
  );

  expect(error).toBeUndefined();
});

test('a script of one very long line is parsed in linear time', () => {
  const text = Array.from(
    { length: 20_000 },
    (_, i) => `var v${i} = "a" > ${i} AND 'x' == 'y'`,
  ).join(' ');

  const { program, error } = parseScript(text);

  expect(error).toBeUndefined();
  expect(program.statements.length).toBe(20_000);
});

test.each([
  ['( * ) < 0777', '(*) < 0777\n'],
  ['(*) == (*) == 2', '(*) == (*) == 2\n'],
  ['-(*) < 2', '-(*) < 2\n'],
  ['((*) == *) == 2', '((*) == *) == 2\n'],
  ['stream.me**s**stream', 'stream\n        .me\n\n* * s * *\n\nstream\n'],
  ['stream.me**(*)<2', 'stream\n        .me\n\n* * (*) < 2\n'],
])('a star keeps the parentheses that an operator behind it needs: %s', (text, formatted) => {
  expect(formatScript(text)).toBe(formatted);
  expect(formatScript(formatted)).toBe(formatted);
  expect(parseScript(formatted).error).toBeUndefined();
});
