// Errors of ClickHouse as errors that a caller can act on.
import { Internal, LimitExceeded } from '@tidemark/core';
import { expect, test } from 'vitest';

import { errorCode, failureOf, isAbsentPath, Unreachable } from './failure.ts';

const answered = (code: number, text: string) =>
  failureOf(new Error(`Code: ${code}, e.displayText() = DB::Exception: ${text}`), 'http://a:1');

test('tells what can be tried again from limits and defects', () => {
  expect(failureOf(Object.assign(new Error('x'), { code: 'ECONNRESET' }), '')).toBeInstanceOf(
    Unreachable,
  );
  expect(answered(292, 'Leader was suddenly changed')).toBeInstanceOf(Unreachable);
  expect(answered(164, 'Replica is not active right now')).toBeInstanceOf(Unreachable);
  expect(answered(164, 'Cannot execute query in readonly mode')).toBeInstanceOf(Internal);
  expect(answered(241, 'Memory limit')).toBeInstanceOf(LimitExceeded);
  expect(answered(62, 'Syntax error')).toBeInstanceOf(Internal);
});

test('knows the number of the server, also where an error has none', () => {
  expect(errorCode(answered(57, 'Table exists'))).toBe('57');
  expect(errorCode(new Unreachable('a replica has not been probed'))).toBeUndefined();
  expect(errorCode(new Error('no cause'))).toBeUndefined();
  expect(isAbsentPath(answered(999, 'No node, path: /a'))).toBe(true);
  expect(isAbsentPath(new Unreachable('a replica has not been probed'))).toBe(false);
});
