import { textsOf } from '@tidemark/core';
import type { Column } from '@tidemark/core';
import { expect, test } from 'vitest';

import type { RowRef } from '../batch/point-writer.ts';
import { RetainedRows } from './retained-rows.ts';

test('retained rows count the texts of their batch until the last row of it is dropped', () => {
  let held = 0;
  const rows = new RetainedRows((bytes) => (held += bytes));
  const text: Column = {
    type: 'string',
    codes: new Uint32Array(2),
    texts: textsOf(['x'.repeat(50_000), 'y'.repeat(50_000)]),
    valid: undefined,
  };
  const batch = [text];
  const row = (index: number): RowRef => ({ columns: batch, row: index });

  rows.add(row(0));
  rows.add(row(1));
  expect(held).toBeGreaterThan(100_000);
  expect(held).toBeLessThan(101_000);
  rows.drop(row(0));
  expect(held).toBeGreaterThan(100_000);
  rows.drop(row(1));
  expect(held).toBe(0);
});
