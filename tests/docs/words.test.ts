// Lint finds the words that documents and comments do without.
import { expect, test } from 'vitest';

import { wordFaults } from '../../tools/words.ts';

test('words in a document, but not in its code', () => {
  const text = 'It can\nnot be.\n\n`can not` and\n```\nfor ever\n```\nstays for ever';

  expect(wordFaults('a.md', text)).toEqual([
    { line: 1, found: 'can not', instead: 'cannot' },
    { line: 8, found: 'for ever', instead: 'forever' },
  ]);
});

test('words in comments, over the end of a line, but not in code', () => {
  const text = [
    '// Begins anew; this can',
    '// not be stopped.',
    "const message = 'can not';",
    '/** Users `to whom` nothing: to whom? */',
    ' * Two files, one behind the other.',
  ].join('\n');

  expect(wordFaults('a.ts', text).map(({ line, found }) => `${line} ${found}`)).toEqual([
    '1 anew',
    '1 can not',
    '4 to whom',
    '5 one behind the other',
  ]);
});
