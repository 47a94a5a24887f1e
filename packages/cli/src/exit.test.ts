// The text that a command prints for an error.
import { InvalidRequest } from '@tidemark/core';
import { expect, test } from 'vitest';
import { describeError } from './exit.ts';

test('a refused script is told of with places and hints, the first finding once', () => {
  const span = { start: 0, end: 1 };
  const diagnostics = [
    { code: 'A', message: 'no method "frm"', span, line: 1, column: 8, hint: 'did you mean from?' },
    { code: 'B', message: 'name "x" is undefined', span, line: 3, column: 2 },
  ];
  const error = new InvalidRequest('invalid TICKscript: no method "frm"', { diagnostics });

  expect(describeError(error)).toBe(
    'invalid TICKscript: no method "frm"\n  line 1, column 8: did you mean from?\n  line 3, column 2: name "x" is undefined',
  );
});
