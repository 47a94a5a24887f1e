// Values of options: what is converted, and what is refused in which words.
import { expect, test } from 'vitest';
import { bool, duration, integer, list, oneOf, size, str } from './option-rows.ts';
import { convertOption, decodeOptions } from './options.ts';

test.each([
  { spec: integer('A.'), given: '2626', value: 2626 },
  { spec: duration('A.'), given: '5s', value: 5_000_000_000n },
  { spec: duration('A.'), given: 7, value: 7n },
  { spec: list('A.'), given: 'one', value: ['one'] },
  { spec: size('A.'), given: '2k', value: 2048 },
  { spec: oneOf('A.', ['a', 'b'], 'a'), given: 'b', value: 'b' },
])('$spec.type from $given becomes $value', ({ spec, given, value }) => {
  expect(convertOption(spec, given)).toEqual({ ok: true, value });
});

test.each([
  { spec: integer('A.'), given: 'abc', reason: 'cannot convert string "abc" into int' },
  { spec: bool('A.'), given: 'true', reason: 'cannot convert string "true" into bool' },
  { spec: str('A.'), given: 5, reason: 'cannot convert float64 into string' },
  { spec: size('A.'), given: '2t', reason: 'cannot convert string "2t" into bytes' },
  {
    spec: oneOf('A.', ['a', 'b'], 'a'),
    given: 'c',
    reason: 'cannot convert string "c" into one of a, b',
  },
])('$spec.type from $given is refused', ({ spec, given, reason }) => {
  expect(convertOption(spec, given)).toEqual({ ok: false, reason });
});

test('unknown names are refused by name', () => {
  const decoded = decodeOptions({ address: str('Receiver.') }, 'tcp', { nope: 1 });

  expect(decoded).toMatchObject({ ok: false });
  expect(JSON.stringify(decoded)).toContain('has invalid keys: nope');
});
