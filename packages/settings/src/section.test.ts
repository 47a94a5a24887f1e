// Options of a section have the names and types of its table; other accesses do not compile.
import { sectionsOf } from '@tidemark/testkit';
import { expect, expectTypeOf, test } from 'vitest';
import { bool, duration, headers, list, str } from './option-rows.ts';
import { defineSection } from './section.ts';

const SECTION = defineSection({
  name: 'service',
  doc: 'A service.',
  elementKey: 'id',
  options: {
    id: str('Name.', 'default'),
    'is-used': bool('Used.'),
    urls: list('URLs.'),
    headers: headers('Headers.'),
    timeout: duration('Time.', '5ns'),
  },
});

test('values have the types of their rows, and every name is there', () => {
  const options = sectionsOf({ service: [{ 'is-used': true }] }).section(SECTION);

  expect(options).toEqual({
    id: 'default',
    'is-used': true,
    urls: null,
    headers: null,
    timeout: 5n,
  });
  expectTypeOf(options?.timeout).toEqualTypeOf<bigint | undefined>();
  expectTypeOf(options?.urls).toEqualTypeOf<readonly string[] | null | undefined>();
  // @ts-expect-error: no row has this name.
  expect(options?.['is-usd']).toBeUndefined();
});

test('the key of elements is one of the options', () => {
  // @ts-expect-error: no row has this name.
  expect(defineSection({ name: 's', doc: 'S.', elementKey: 'name', options: {} }).name).toBe('s');
});
