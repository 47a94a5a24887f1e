// Any text gives a tree or diagnostics, and formatting is stable. SOAK_SCRIPTS=100000 runs the long version.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatScript, parseLambda, parseScript, tokenize } from './index.ts';

const RUNS = Number(process.env['SOAK_SCRIPTS'] ?? 1_000);
const TIMEOUT_MS = 20_000 + RUNS * 20;

const recorded = readFileSync(
  new URL('../../../tests/compat/engine-oracle-cases.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => (JSON.parse(line) as { script?: string }).script)
  .filter((script) => script !== undefined);

const FRAGMENTS = [
  ...'()[]|.@,=*+-/%!<>"\'',
  "'''",
  '// comment\n',
  '\n\n',
  'lambda:',
  'lambda: ',
  'var x = ',
  'var y float',
  'dbrp "a"."b"',
  'AND',
  'OR',
  'TRUE',
  '==',
  '=~ /a.b/',
  '10s',
  '0777',
  '1.5',
  '"ref"',
  'stream',
  '|from()',
  '\\',
  '\u00e9\ud83d\ude00',
  '\ufeff',
];

/** A recorded script with pieces removed, repeated, replaced or mixed with another one. */
const mutated = fc
  .tuple(
    fc.constantFrom(...recorded),
    fc.constantFrom(...recorded),
    fc.array(
      fc.record({
        kind: fc.constantFrom('remove', 'repeat', 'insert', 'splice'),
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        length: fc.nat({ max: 30 }),
        fragment: fc.constantFrom(...FRAGMENTS),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  )
  .map(([script, other, steps]) => {
    let text = script;
    for (const { kind, at, length, fragment } of steps) {
      const index = Math.floor(at * text.length);
      const piece = text.slice(index, index + length);
      const rest = kind === 'remove' ? text.slice(index + length) : text.slice(index);
      const inserted = {
        remove: '',
        repeat: piece,
        insert: fragment,
        splice: other.slice(Math.floor(at * other.length)).slice(0, length * 3),
      }[kind];
      text = text.slice(0, index) + inserted + rest;
    }
    return text;
  });

const tokens = fc
  .array(fc.constantFrom(...FRAGMENTS), { maxLength: 40 })
  .map((list) => list.join(' '));
const anyText = fc.oneof(mutated, tokens, fc.string({ unit: 'binary', maxLength: 80 }));

test(
  'any text is parsed without throwing, with diagnostics that lie inside it',
  { timeout: TIMEOUT_MS },
  () => {
    fc.assert(
      fc.property(anyText, (text) => {
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
      { numRuns: RUNS },
    );
  },
);

test('formatting is stable and keeps the meaning', { timeout: TIMEOUT_MS }, () => {
  fc.assert(
    fc.property(anyText, (text) => {
      fc.pre(parseScript(text).error === undefined);
      const once = formatScript(text);
      expect(parseScript(once).error).toBeUndefined();
      expect(formatScript(once)).toBe(once);
      expect(codeOf(once)).toEqual(codeOf(text));
      expect(commentsOf(once)).toEqual(commentsOf(text));
    }),
    { numRuns: RUNS },
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
