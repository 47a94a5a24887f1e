import { NO_TEXTS, textsOf } from '@tidemark/core';
import { expect, test } from 'vitest';

import { gatherRows } from './gather-rows.ts';
import { GroupTable, NO_DIMENSIONS } from './group.ts';
import { NO_ORIGIN, Point } from './point.ts';
import type { Rows } from './schema.ts';
import { columnSchema } from './schema.ts';
import { SeriesTable } from './series.ts';

const table = new SeriesTable();
const group = new GroupTable(table, 10).named('', NO_DIMENSIONS, [])!;
const series = table.of('m', []);
const schema = columnSchema([{ name: 'text', type: 'string' }]);

function textsIn(rows: Rows, count: number): unknown[] {
  const point = (row: number): Point =>
    new Point(0n, series, group, schema, rows, row, [], NO_ORIGIN);
  return Array.from({ length: count }, (_, row) => point(row).fieldValue('text'));
}

const codes = Uint32Array.of(2, 0, 1, 2);

test.each([
  ['a write', { codes, texts: textsOf(['a', 'b', 'c']), strings: [] }],
  ['a window', { codes, texts: NO_TEXTS, strings: ['a', 'b', 'c'] }],
])('gathers texts of %s', (_, column) => {
  const gathered = gatherRows({ columns: [column] }, Uint32Array.of(3, 1, 0));

  expect(textsIn(gathered, 3)).toEqual(['c', 'a', 'c']);
});
