import { MAX_INT64, MIN_INT64, textsOf, textAt } from '@tidemark/core';
import type { TimeRange } from '@tidemark/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { valuesOf } from '../columns/run.ts';
import { RowBlock } from '../columns/row-block.ts';
import { Uint32List } from '../columns/uint32-list.ts';
import { Deletion } from './deletion.ts';
import { Table } from './table.ts';

type Row = {
  readonly series: number;
  readonly time: bigint;
  /** Null: not written. */
  readonly values: { readonly i: bigint | null; readonly s: string | null };
};

/** Series 3, 5, 7 … are ordinals 1, 2, 3 …, as if others lay between them. */
const INDEX = { ordinalOf: (series: number) => (series - 1) / 2 };

const ALL = { start: MIN_INT64, end: MAX_INT64 };
const ALL_SERIES = [{ measurementId: 1, series: undefined }];

function blockOf(rows: readonly Row[]): RowBlock {
  const block = RowBlock.adopt(
    1,
    Uint32Array.from(rows, ({ series }) => series),
    BigInt64Array.from(rows, ({ time }) => time),
    {
      min: rows.reduce((min, { time }) => (time < min ? time : min), rows[0]!.time),
      max: rows.reduce((max, { time }) => (time > max ? time : max), rows[0]!.time),
    },
  );
  const valid = (name: 'i' | 's'): Uint8Array | undefined => {
    const bytes = Uint8Array.from(rows, ({ values }) => (values[name] === null ? 0 : 1));
    return bytes.includes(0) ? bytes : undefined;
  };
  if (rows.some(({ values }) => values.i !== null)) {
    const values = BigInt64Array.from(rows, (row) => row.values.i ?? 0n);
    block.setColumn('i', { type: 'integer', values, valid: valid('i') });
  }
  if (rows.some(({ values }) => values.s !== null)) {
    const dictionary = ['', ...new Set(rows.flatMap(({ values }) => values.s ?? []))];
    const codes = Uint32Array.from(rows, ({ values }) => dictionary.indexOf(values.s ?? ''));
    block.setColumn('s', { type: 'string', codes, texts: textsOf(dictionary), valid: valid('s') });
  }
  return block;
}

/** Rows of a series as a reader gets them. */
function rowsOf(table: Table, series: number, limit: number): readonly Row[] {
  const list = new Uint32List();
  table.listRows(INDEX.ordinalOf(series), limit, list);
  const pick = table.pick(list.toArray());
  const times = pick.times();
  const integers = pick.column({ name: 'i', type: 'integer' });
  const texts = pick.column({ name: 's', type: 'string' });
  return Array.from(times, (time, at) => {
    const hasInteger = integers !== undefined && integers.valid?.[at] !== 0;
    const text = texts?.type === 'string' ? texts : undefined;
    const hasText = text !== undefined && text.valid?.[at] !== 0;
    return {
      series,
      time,
      values: {
        i: hasInteger ? (valuesOf(integers)[at] as bigint) : null,
        s: hasText ? textAt(text.texts, text.codes[at]!) : null,
      },
    };
  });
}

const ROW: fc.Arbitrary<Row> = fc.record({
  series: fc.constantFrom(3, 5, 7, 20_001),
  time: fc.bigInt({ min: -3n, max: 3n }),
  values: fc.record({
    i: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
    s: fc.option(fc.constantFrom('a', 'b', 'ä')),
  }),
});
/** Small batches share blocks; the factor makes one a block of its own. */
const BATCH = fc.record({
  rows: fc.array(ROW, { minLength: 1, maxLength: 8 }),
  times: fc.constantFrom(1, 1, 1, 1, 1, 300),
});

test('each series has its rows in arrival order, in every snapshot', () => {
  fc.assert(
    fc.property(fc.array(BATCH, { minLength: 1, maxLength: 8 }), (batches) => {
      const table = new Table(1, INDEX);
      const model: Row[] = [];
      const snapshots: number[] = [];
      for (const { rows, times } of batches) {
        const all = Array.from({ length: times }, () => rows).flat();
        table.append(blockOf(all));
        model.push(...all);
        snapshots.push(table.rows);
      }

      expect(table.rows).toBe(model.length);
      for (const limit of snapshots) {
        for (const series of [3, 5, 7, 20_001]) {
          const wanted = model.slice(0, limit).filter((row) => row.series === series);
          expect(rowsOf(table, series, limit)).toEqual(wanted);
        }
      }
    }),
    { numRuns: 15 },
  );
});

test('a time range lists all rows within it, in arrival order, and no block before or behind', () => {
  const range = fc
    .tuple(fc.bigInt({ min: -4n, max: 4n }), fc.bigInt({ min: -4n, max: 4n }))
    .map(([a, b]) => ({ start: a < b ? a : b, end: a < b ? b : a }));
  fc.assert(
    fc.property(fc.array(BATCH, { minLength: 1, maxLength: 8 }), range, (batches, timeRange) => {
      const table = new Table(1, INDEX);
      for (const { rows, times } of batches) {
        table.append(blockOf(Array.from({ length: times }, () => rows).flat()));
      }
      for (const limit of [1, Math.ceil(table.rows / 2), table.rows]) {
        for (const series of [3, 5, 7, 20_001]) {
          const all = new Uint32List();
          table.listRows(INDEX.ordinalOf(series), limit, all);
          const some = new Uint32List();
          table.listRowsWithin(INDEX.ordinalOf(series), { limit, timeRange }, some);
          const times = table.pick(all.toArray()).times();
          const listed = new Set(some.toArray());

          expect([...some.toArray()]).toEqual([...all.toArray()].filter((row) => listed.has(row)));
          for (const [at, row] of all.toArray().entries()) {
            const isWithin = times[at]! >= timeRange.start && times[at]! <= timeRange.end;
            if (isWithin) expect(listed).toContain(row);
          }
        }
      }
    }),
    { numRuns: 50 },
  );
  const table = new Table(1, INDEX);
  const rowsFrom = (from: number): Row[] =>
    Array.from({ length: 2000 }, (_, i) => ({
      series: 3 + 2 * (i % 2),
      time: BigInt(from + i),
      values: { i: 1n, s: null },
    }));
  for (const from of [0, 2000, 4000]) table.append(blockOf(rowsFrom(from)));
  const within = (timeRange: TimeRange): [number | undefined, number] => {
    const list = new Uint32List();
    table.listRowsWithin(INDEX.ordinalOf(3), { limit: table.rows, timeRange }, list);
    return [list.toArray()[0], list.length];
  };

  expect(within({ start: 2500n, end: 2600n })).toEqual([2000, 1000]);
  expect(within({ start: 3999n, end: 9000n })).toEqual([2000, 2000]);
  expect(within({ start: 9000n, end: 9001n })).toEqual([undefined, 0]);
});

test('a table without some rows has the others; without none it stays the same', () => {
  const rows = Array.from({ length: 3000 }, (_, i) => ({
    series: 3 + 2 * (i % 3),
    time: BigInt(i),
    values: { i: BigInt(i), s: i % 2 === 0 ? `t${i % 10}` : null },
  }));
  const table = new Table(1, INDEX);
  table.append(blockOf(rows.slice(0, 10)));
  table.append(blockOf(rows.slice(10, 2500)));
  table.append(blockOf(rows.slice(2500)));

  const deletion = new Deletion({ start: MIN_INT64, end: 2699n }, [
    { measurementId: 1, series: Uint32Array.of(5) },
  ]);
  const kept = deletion.apply(table)!;

  expect(new Deletion({ start: 5000n, end: 6000n }, ALL_SERIES).apply(table)).toBe(table);
  expect(new Deletion(ALL, ALL_SERIES).apply(table)).toBeUndefined();
  expect(rowsOf(kept, 3, kept.rows)).toEqual(rows.filter(({ series }) => series === 3));
  expect(rowsOf(kept, 5, kept.rows)).toEqual(
    rows.filter(({ series, time }) => series === 5 && time >= 2700n),
  );
  expect(rowsOf(table, 5, table.rows)).toEqual(rows.filter(({ series }) => series === 5));
});

test('a large batch is taken over, small ones are gathered', () => {
  const row = { series: 3, time: 1n, values: { i: 1n, s: null } };
  const large = blockOf(Array.from({ length: 2000 }, () => row));
  const table = new Table(1, INDEX);

  table.append(large);
  for (let i = 0; i < 9000; i++) table.append(blockOf([row]));

  expect(table.blocks[0]).toBe(large);
  expect(table.blocks.map(({ rows }) => rows)).toEqual([2000, 8192, 808]);
});
