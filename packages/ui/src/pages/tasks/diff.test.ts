// Differences of texts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffOf } from './diff.ts';

const printed = (before: string, after: string): readonly string[] =>
  diffOf(before, after).map(
    ({ kind, text }) => ({ same: ' ', added: '+', removed: '-' })[kind] + text,
  );

test.each<readonly [string, string, readonly string[]]>([
  ['', '', []],
  ['a\nb\n', 'a\nb', [' a', ' b']],
  ['', 'a\nb', ['+a', '+b']],
  ['a\nb', '', ['-a', '-b']],
  ['a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
  ['a\nc', 'a\nb\nc', [' a', '+b', ' c']],
])('%j to %j', (before, after, lines) => {
  expect(printed(before, after)).toEqual(lines);
});

test('both texts are in it, in their order', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      const before = a.map((line) => `x${line}`);
      const after = b.map((line) => `x${line}`);
      const diff = diffOf(before.join('\n'), after.join('\n'));

      expect(diff.filter(({ kind }) => kind !== 'added').map(({ text }) => text)).toEqual(before);
      expect(diff.filter(({ kind }) => kind !== 'removed').map(({ text }) => text)).toEqual(after);
    }),
  );
});

test('texts of thousands of different lines end soon', () => {
  const text = (name: string): string =>
    Array.from({ length: 50_000 }, (_, i) => `${name}${i}`).join('\n');

  const lines = diffOf(text('a'), text('b'));

  expect(lines).toHaveLength(100_000);
  expect(lines[0]).toEqual({ kind: 'removed', text: 'a0' });
  expect(lines.at(-1)).toEqual({ kind: 'added', text: 'b49999' });
});
