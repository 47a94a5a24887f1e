import fc from 'fast-check';
import { expect, test } from 'vitest';

import { jsonFault } from './json-fault.ts';

test.each([
  ['not json', "invalid character 'o' in literal null (expecting 'u')"],
  ['nul', 'unexpected EOF'],
  ['nulx', "invalid character 'x' in literal null (expecting 'l')"],
  ['{"a":truE}', "invalid character 'E' in literal true (expecting 'e')"],
  ['{', 'unexpected EOF'],
  ['{"a":1,', 'unexpected EOF'],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{,}', "invalid character ',' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":01}', "invalid character '1' after object key:value pair"],
  ['{"a":1.}', "invalid character '}' after decimal point in numeric literal"],
  ['{"a":-}', "invalid character '}' in numeric literal"],
  ['{"a":1e}', "invalid character '}' in exponent of numeric literal"],
  ['{"a":"x', 'unexpected EOF'],
  [String.raw`{"a":"\q"}`, "invalid character 'q' in string escape code"],
  [
    String.raw`{"a":"\u12x4"}`,
    String.raw`invalid character 'x' in \u hexadecimal character escape`,
  ],
  ['{"a":[1 2]}', "invalid character '2' after array element"],
  ['[,]', "invalid character ',' looking for beginning of value"],
  ['{"a":"\u0001"}', String.raw`invalid character '\x01' in string literal`],
  ['  ', 'EOF'],
  ['{"a":é}', "invalid character 'Ã' looking for beginning of value"],
  ["{'a':1}", String.raw`invalid character '\'' looking for beginning of object key string`],
  ['{}x', undefined],
])('finds the mistake in %s', (text, fault) => {
  expect(jsonFault(text)).toBe(fault);
});

test('finds nothing wrong with JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(jsonFault(JSON.stringify(value))).toBeUndefined();
      expect(jsonFault(JSON.stringify(value, undefined, 2))).toBeUndefined();
    }),
  );
});

test('finds a mistake in whatever JSON.parse refuses, unless it lies behind the value', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.nat(),
      fc.constantFrom('', 'x', '}', ']', ',', '"'),
      (value, n, put) => {
        const text = JSON.stringify([value]);
        const at = n % text.length;
        const broken = text.slice(0, at) + put + text.slice(at + 1);
        if (jsonFault(broken) !== undefined) expect(() => JSON.parse(broken)).toThrow(SyntaxError);
      },
    ),
  );
});

test('does not mind a hundred thousand open brackets', () => {
  expect(jsonFault('['.repeat(100_000))).toBe('unexpected EOF');
});
