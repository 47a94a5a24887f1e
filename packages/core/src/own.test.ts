import { expect, test } from 'vitest';

import { own } from './own.ts';

test.each(['__proto__', 'constructor', 'toString', 'b'])('%s is in no table', (name) => {
  expect(own({ a: 1 }, name)).toBe(undefined);
});

test('finds what a table has', () => {
  expect(own({ a: 1, ['__proto__']: 2 }, 'a')).toBe(1);
  expect(own({ ['__proto__']: 2 }, '__proto__')).toBe(2);
});
