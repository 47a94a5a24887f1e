import { describe, expect, test } from 'vitest';

import { columnsAt, placesOfFields } from './field-places.ts';
import type { ColumnMeta } from './format.ts';

const COUNTS = [1, 4, 5, 100];

describe.each(COUNTS)('%d wanted fields', (count) => {
  const fields = Array.from({ length: 200 }, (_, i) => ({
    name: `f${i}`,
    type: 'float' as const,
  }));
  const wanted = Array.from({ length: count }, (_, i) => ({ name: `f${i * 3}` }));

  test('are found by name, others are missing', () => {
    const places = placesOfFields({ fields }, wanted);
    expect([...places]).toEqual(wanted.map((_, i) => (i * 3 < 200 ? i * 3 : -1)));
  });

  test('have the column of their place, in any order of columns', () => {
    const column = (field: number): ColumnMeta => ({
      field,
      count: 1,
      offset: field * 10,
      validBytes: 0,
      valueBytes: 6,
      statistics: undefined,
    });
    const places = placesOfFields({ fields }, [...wanted, { name: 'absent' }]);
    for (const order of [
      [0, 3, 6, 150],
      [150, 3, 0, 198],
    ]) {
      const found = columnsAt({ columns: order.map(column) }, places);
      expect(found.map((one) => one?.field)).toEqual(
        [...places].map((place) => (order.includes(place) ? place : undefined)),
      );
    }
  });
});
