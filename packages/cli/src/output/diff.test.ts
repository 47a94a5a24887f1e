// The differences shown for failed task tests.
import { expect, test } from 'vitest';
import { diffLines } from './diff.ts';

test('equal lines stay, others are marked', () => {
  expect(diffLines(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual([
    '  a',
    '- b',
    '+ x',
    '  c',
    '+ d',
  ]);
});

test('one of the lists may be empty', () => {
  expect(diffLines([], ['a'])).toEqual(['+ a']);
  expect(diffLines(['a'], [])).toEqual(['- a']);
  expect(diffLines([], [])).toEqual([]);
});

test('a line that came later than expected is found again', () => {
  expect(diffLines(['a', 'b'], ['b', 'a'])).toEqual(['- a', '  b', '+ a']);
});
