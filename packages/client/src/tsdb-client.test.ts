import { expect, test } from 'vitest';

import { parseLossless } from './tsdb-client.ts';

test('keeps integers beyond 2^53 as bigint and leaves everything else alone', () => {
  const text =
    '{"a":[9223372036854775807,-9007199254740993, 1234567890123456,1.5e300,"9223372036854775807","x\\"[1234567890123456789]"]}';

  expect(parseLossless(text)).toEqual({
    a: [
      9223372036854775807n,
      -9007199254740993n,
      1234567890123456,
      1.5e300,
      '9223372036854775807',
      'x"[1234567890123456789]',
    ],
  });
});
