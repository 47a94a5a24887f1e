// Values of options: what is converted, and what is refused in which words.
import { expect, test } from 'vitest';
import { str } from './option-rows.ts';
import { convertOption, decodeOptions } from './options.ts';

test.each([
  ['integer', '2626', 2626],
  ['duration', '5s', 5_000_000_000n],
  ['duration', 7, 7n],
  ['strings', 'one', ['one']],
] as const)('%s from %s becomes %s', (type, given, value) => {
  expect(convertOption(type, given)).toEqual({ ok: true, value });
});

test.each([
  ['integer', 'abc', 'cannot convert string "abc" into int'],
  ['boolean', 'true', 'cannot convert string "true" into bool'],
  ['string', 5, 'cannot convert float64 into string'],
] as const)('%s from %j is refused', (type, given, reason) => {
  expect(convertOption(type, given)).toEqual({ ok: false, reason });
});

test('unknown names are refused by name', () => {
  const decoded = decodeOptions({ address: str('Receiver.') }, 'tcp', { nope: 1 });

  expect(decoded).toMatchObject({ ok: false });
  expect(JSON.stringify(decoded)).toContain('has invalid keys: nope');
});
