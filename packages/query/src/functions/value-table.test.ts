import { columnFrom, columnValue, textsOf } from '@tidemark/core';
import type { FieldType, FieldValue } from '@tidemark/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { NO_VALUE, ValueTable } from './value-table.ts';

const MAX_INT64 = 2n ** 63n - 1n;

/** Few different values, so that they repeat, and the odd ones among them. */
const VALUES: Readonly<Record<FieldType, fc.Arbitrary<FieldValue>>> = {
  float: fc.oneof(fc.constantFrom(0, -0, Number.NaN, 1, -1, 5e-324), fc.double()),
  integer: fc.oneof(fc.bigInt({ min: -3n, max: 3n }), fc.constantFrom(-MAX_INT64 - 1n, MAX_INT64)),
  unsigned: fc.oneof(fc.bigInt({ min: 0n, max: 3n }), fc.constantFrom(2n ** 64n - 1n, 1n << 32n)),
  boolean: fc.boolean(),
  string: fc.string({ maxLength: 2, unit: 'grapheme' }),
};

test.each(Object.keys(VALUES) as FieldType[])(
  'numbers different values as a map does, in the order in which they came: %s',
  (type) => {
    const table = new ValueTable(type, () => undefined);
    const cells = fc.array(fc.option(VALUES[type]), { maxLength: 100 });
    fc.assert(
      fc.property(fc.array(cells, { maxLength: 4 }), (pieces) => {
        const known = new Map<FieldValue, number>();
        const firsts: FieldValue[] = [];
        for (const piece of pieces) {
          const column = columnFrom(type, piece);
          const from = piece.length >> 2;
          const numbers = [...table.add(column, from, piece.length)];

          const expected = piece.slice(from).map((_, i) => {
            const value = columnValue(column, from + i);
            if (value === null) return NO_VALUE;
            if (!known.has(value)) {
              known.set(value, known.size);
              firsts.push(value);
            }
            return known.get(value)!;
          });
          expect(numbers).toEqual(expected);
        }
        expect(Array.from({ length: table.size }, (_, i) => table.valueOf(i))).toEqual(firsts);
        // The next window starts over with the same table.
        table.clear();
      }),
    );
  },
);

test('orders values as they are ordered in answers', () => {
  const ordered: readonly (readonly [FieldType, readonly FieldValue[]])[] = [
    ['float', [-1.5, 0, 2]],
    ['integer', [-5n, 7n]],
    ['unsigned', [1n, 2n ** 63n]],
    ['boolean', [false, true]],
    ['string', ['a', 'z', '\uffff', '\u{10000}']],
  ];
  for (const [type, values] of ordered) {
    const table = new ValueTable(type, () => undefined);
    table.add(columnFrom(type, values), 0, values.length);
    for (let i = 1; i < values.length; i++) {
      expect(table.compare(i - 1, i)).toBeLessThan(0);
      expect(table.compare(i, i - 1)).toBeGreaterThan(0);
      expect(table.compare(i, i)).toBe(0);
    }
  }
});

test.each([
  ['-0', [-0, 1, 0], -0],
  ['0', [0, 1, -0], 0],
])('both zeros are one value, shown as the first: %s', (_, values, shown) => {
  const table = new ValueTable('float', () => undefined);
  table.add(columnFrom('float', [0, -0]), 0, 2);
  table.clear();

  const numbers = [...table.add(columnFrom('float', values), 0, values.length)];

  expect(numbers).toEqual([0, 1, 0]);
  expect(table.valueOf(0)).toBe(shown);
});

test('finds many values again, and gives back all the memory that it has taken', () => {
  const COUNT = 50_000;
  let heldBytes = 0;
  const hold = (bytes: number): void => void (heldBytes += bytes);
  const numbers = new ValueTable('float', hold);
  const texts = new ValueTable('string', hold);
  const floats = columnFrom(
    'float',
    Array.from({ length: COUNT }, (_, i) => i / 3),
  );
  const words = columnFrom(
    'string',
    Array.from({ length: COUNT }, (_, i) => `v${i}`),
  );
  for (let round = 0; round < 2; round++) {
    expect(numbers.add(floats, 0, COUNT).at(-1)).toBe(COUNT - 1);
    expect(texts.add(words, 0, COUNT).at(-1)).toBe(COUNT - 1);
    // One row of the same dictionary.
    expect([...texts.add(words, 7, 8)]).toEqual([7]);
  }
  expect(texts.numberOfText('v49999')).toBe(COUNT - 1);
  expect(heldBytes).toBeGreaterThan(COUNT * 2 * 16);

  numbers.clear();
  texts.clear();

  expect(heldBytes).toBe(0);
  expect(numbers.size + texts.size).toBe(0);
});

test('one row out of many texts does not cost all of them', () => {
  const dictionary = Array.from({ length: 1000 }, (_, i) => `v${i}`);
  const codes = Uint32Array.of(3, 5, 3);
  const table = new ValueTable('string', () => undefined);
  const column = { type: 'string', codes, texts: textsOf(dictionary), valid: undefined } as const;

  expect([...table.add(column, 0, 1), ...table.add(column, 1, 3)]).toEqual([0, 1, 0]);
  expect(table.valueOf(1)).toBe('v5');
});

test('a column of nulls of another type has no value; any other is a mistake', () => {
  const table = new ValueTable('string', () => undefined);
  const column = columnFrom('float', [1, null]);

  expect([...table.add(column, 1, 2)]).toEqual([NO_VALUE]);
  expect(() => table.add(column, 0, 2)).toThrow('one type');
});

// Values that one writer chose: with a hash that is the same in every process they could all share
// a bucket.
test('values whose products with fixed factors are equal are told apart as fast as others', () => {
  const COUNT = 300_000;
  // 0x85ebca77 times this is 1, modulo 2^32.
  const inverse = inverseOf(0x85ebca77);
  const values = BigInt64Array.from({ length: COUNT }, (_, low) => {
    const high = Math.imul(Math.imul(low, 0x9e3779b1), inverse);
    return (BigInt(high) << 32n) | BigInt(low);
  });
  const table = new ValueTable('integer', () => undefined);

  table.add({ type: 'integer', values, valid: undefined }, 0, COUNT);

  expect(table.size).toBe(COUNT);
});

/** By Newton's steps, each of which doubles the bits that are right. */
function inverseOf(odd: number): number {
  let inverse = odd;
  for (let i = 0; i < 5; i++) inverse = Math.imul(inverse, 2 - Math.imul(odd, inverse));
  return inverse;
}
