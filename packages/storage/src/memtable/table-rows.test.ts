// Rows of a table are compared with a list of them, in any order of arrival.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { RowBlock } from '../columns/row-block.ts';
import { clipRun } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { tableRowsOf, tableRowsWithin } from './table-rows.ts';
import type { TableRows } from './table-rows.ts';
import { Table } from './table.ts';

type Row = { readonly series: number; readonly time: number };

const INDEX = { ordinalOf: (series: number): number => series - 10 };
const SERIES = 6;

/** Values are the numbers of the rows. */
function tableOf(rows: readonly Row[], blockRows: number): Table {
  const table = new Table(0, INDEX);
  for (let from = 0; from < rows.length; from += blockRows) {
    const part = rows.slice(from, from + blockRows);
    const times = BigInt64Array.from(part, ({ time }) => BigInt(time));
    const sorted = times.toSorted();
    const bounds = { min: sorted[0]!, max: sorted.at(-1)! };
    const ids = Uint32Array.from(part, ({ series }) => series);
    const block = RowBlock.adopt(0, ids, times, bounds);
    const values = Float64Array.from(part, (_, i) => from + i);
    block.setColumn('v', { type: 'float', values, valid: undefined });
    table.append(block);
  }
  return table;
}

/** The last of the rows with each time, by time: as [time, value]. */
function expected(rows: readonly Row[], series: number, limit: number): readonly number[][] {
  const last = new Map<number, number>();
  for (const [i, row] of rows.slice(0, limit).entries()) {
    if (row.series === series) last.set(row.time, i);
  }
  return [...last].sort((a, b) => a[0] - b[0]);
}

function plain({ times, columns: [column] }: Run): readonly number[][] {
  return Array.from(times, (time, i) => [
    Number(time),
    column?.type === 'float' ? column.values[i]! : Number.NaN,
  ]);
}

function runOf(rows: TableRows): Run {
  return { times: rows.times, columns: [rows.column({ name: 'v', type: 'float' })] };
}

const rowLists = fc.oneof(
  fc.array(
    fc.record({ series: fc.integer({ min: 10, max: 15 }), time: fc.integer({ min: 0, max: 60 }) }),
    { maxLength: 200 },
  ),
  // Whole batches of ascending times, in any order.
  fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 10 }).map((batches) =>
    batches.flatMap((batch) =>
      Array.from({ length: 24 }, (_, i) => ({
        series: 10 + (i >> 3),
        time: batch * 8 + (i & 7),
      })),
    ),
  ),
);

test('rows of one series in a range are the last of each time', () => {
  const ranges = fc.tuple(fc.integer({ min: 0, max: 90 }), fc.integer({ min: 0, max: 90 }));
  fc.assert(
    fc.property(
      rowLists,
      ranges,
      fc.nat({ max: 200 }),
      fc.nat({ max: 50 }),
      (rows, range, n, b) => {
        const table = tableOf(rows, b + 1);
        const limit = Math.min(n, rows.length);
        const [start, end] = range.toSorted((x, y) => x - y).map(BigInt) as [bigint, bigint];
        for (let series = 10; series < 10 + SERIES; series++) {
          const place = { id: series, ordinal: INDEX.ordinalOf(series) };
          const found = tableRowsOf({ table, rows: limit }, place, { start, end });
          const run = found && clipRun(found.left(runOf(found)), start, end);

          const all = expected(rows, series, limit);
          const within = all.filter(([time]) => time! >= start && time! <= end);
          expect(run === undefined ? [] : plain(run)).toEqual(within);
          if (found?.isAscending === true) expect(found.count).toBe(within.length);
        }
      },
    ),
  );
});

test('portions have all rows of the wanted series, in the order of these', () => {
  fc.assert(
    fc.property(rowLists, fc.nat({ max: 60 }), fc.nat({ max: 50 }), (rows, portionMax, b) => {
      const table = tableOf(rows, b + 1);
      const wanted = (ordinal: number): number | undefined =>
        ordinal === 2 ? undefined : ordinal + 10;
      const found = new Map<number, (readonly number[])[]>();
      const portions = tableRowsWithin({ table, rows: rows.length }, wanted, portionMax);
      for (const portion of portions) {
        if (portion === undefined) continue;
        const all = portion.leftOfSeries(runOf(portion));
        for (const [i, row] of plain(all).entries()) {
          const known = found.get(all.series[i]!);
          if (known === undefined) found.set(all.series[i]!, [row]);
          else known.push(row);
        }
        for (const [i, id] of portion.runs.ids.entries()) {
          const own = portion.ofSeries(i);
          expect(plain(own.left(runOf(own)))).toEqual(found.get(id));
        }
      }

      const ids = [10, 11, 13, 14, 15].filter((id) => rows.some(({ series }) => series === id));
      expect([...found.keys()]).toEqual(ids);
      for (const id of ids) expect(found.get(id)).toEqual(expected(rows, id, rows.length));
    }),
  );
});
