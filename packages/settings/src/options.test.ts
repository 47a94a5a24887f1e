// Values of options: what is converted, and what is refused with which message.
import { expect, test } from 'vitest';
import { bool, duration, integer, list, oneOf, port, size, str } from './option-rows.ts';
import { readValue } from './config/values.ts';
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

const INTEGER = 'an integer, 0 or more';
const DURATION = 'a duration such as "10s", "5m" or "1h30m"';

// The same rule for what clients send and for what files say.
test.each([
  { spec: integer('A.'), given: 'abc', reason: `expected ${INTEGER}, got text "abc"` },
  { spec: integer('A.'), given: -1, reason: `expected ${INTEGER}, got number -1` },
  { spec: integer('A.'), given: 0.5, reason: `expected ${INTEGER}, got number 0.5` },
  {
    spec: port('A.'),
    given: 65_536,
    reason: 'expected an integer from 0 to 65535, got number 65536',
  },
  { spec: duration('A.'), given: '-1s', reason: `expected ${DURATION}, got text "-1s"` },
  { spec: duration('A.'), given: -1, reason: `expected ${DURATION}, got number -1` },
  { spec: bool('A.'), given: 'true', reason: 'expected true or false, got text "true"' },
  { spec: str('A.'), given: 5, reason: 'expected text, got number 5' },
  { spec: list('A.'), given: [5], reason: 'expected a list of texts, got a list' },
  {
    spec: size('A.'),
    given: '2t',
    reason: 'expected a number of bytes, or text such as "25m" or "1g", got text "2t"',
  },
  {
    spec: oneOf('A.', ['a', 'b'], 'a'),
    given: 'c',
    reason: 'expected one of "a", "b", got text "c"',
  },
])('$spec.type from $given is refused', ({ spec, given, reason }) => {
  expect(convertOption(spec, given)).toEqual({ ok: false, reason });
  expect(readValue(spec, given, false)).toBe(undefined);
});

test('unknown names are refused by name', () => {
  const decoded = decodeOptions({ address: str('Receiver.') }, 'tcp', { nope: 1 });

  expect(decoded).toMatchObject({ ok: false });
  expect(JSON.stringify(decoded)).toContain('has invalid keys: nope');
});
