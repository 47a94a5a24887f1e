// JSON keeps all digits of integers on the way in and out.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { parseLossless, printLossless } from './lossless.ts';

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

test('integers of any length are printed as numbers', () => {
  const value = { a: [9223372036854775807n, -5n], b: '9223372036854775807', c: '\u00005' };

  expect(printLossless(value)).toBe(
    '{"a":[9223372036854775807,-5],"b":"9223372036854775807","c":"\\u00005"}',
  );
});

test('printed values are read back, whatever texts stand beside long integers', () => {
  const text = fc.oneof(
    fc.string(),
    fc
      .array(fc.constantFrom('\0', '"', '\\', '7', '-', ':'), { maxLength: 5 })
      .map((all) => all.join('')),
  );
  const integer = fc
    .bigInt(-(2n ** 63n), 2n ** 63n - 1n)
    .filter((each) => !Number.isSafeInteger(Number(each)));
  const item = fc.oneof(text, integer, fc.integer(), fc.boolean(), fc.constant(null));
  const list = fc.array(item, { maxLength: 6 });
  fc.assert(
    fc.property(list, integer, text, (values, long, key) => {
      const document = { values, [`k${key}`]: 1, [`\0${key}`]: long, nested: [{ long }] };
      for (const indent of [0, 2]) {
        expect(parseLossless(printLossless(document, indent))).toEqual(document);
      }
    }),
  );
});
