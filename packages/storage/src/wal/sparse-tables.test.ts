// Rows of few of many fields are in other arrays than columns from the parser to the log. What
// comes out is what a parser gives that knows columns only.
import { columnValue } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';
import { parseLines } from '@tidemark/line-protocol';
import { IngestKernel, Kernels, RowBuffers, SeriesKeys } from '@tidemark/kernels';
import type { StagedTable } from '@tidemark/kernels';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { RowBlock } from '../columns/row-block.ts';
import { columnOf } from '../columns/run.ts';
import { Table } from '../memtable/table.ts';
import { decodeRecord, encodeFramed, encodeStagedTable } from './wal-record.ts';
import { FRAME_BYTES } from '../disk/frames.ts';

const FIELDS = 900;

/** Rows as text: series, time and values, in their order. */
type Rows = readonly string[];

function parser(allowsSparse: boolean): (body: string) => readonly StagedTable[] {
  const series = new SeriesKeys(new Kernels());
  const ingest = new IngestKernel({ series, parseLine: parseLines, allowsSparse });
  const host = {
    shardFor: () => ({ id: 1, start: 0n, end: 1n << 40n }),
    fieldTypes: () => [],
  };
  const options = { precision: 'ns', now: 1n } as const;
  return (body) => ingest.parseLines(new TextEncoder().encode(body), options, host).tables;
}

function blockOf(staged: StagedTable): RowBlock {
  const { seriesIds, times, columns, sparse } = staged.copyRows(new RowBuffers());
  const bounds = { min: staged.minTime, max: staged.maxTime };
  const block = RowBlock.adopt(1, seriesIds, times, bounds);
  if (sparse !== undefined) return block.setSparse(sparse);
  staged.fields.forEach(({ name }, i) => block.setColumn(name, columns[i]!));
  return block;
}

function rowsOf(blocks: readonly RowBlock[]): Rows {
  return blocks.flatMap((block) => {
    const rows = Array.from({ length: block.rows }, (): [string, FieldValue][] => []);
    const dense = block.sparse === undefined ? block : undefined;
    const table = new Table(1, { ordinalOf: (series) => series });
    table.append(block);
    const pick = table.pick(Uint32Array.from(rows, (_, i) => i));
    for (const { name, type } of block.fields) {
      const column = dense?.column(name);
      const picked =
        column === undefined
          ? pick.column({ name, type })!
          : columnOf(type, { ...column, texts: column.texts?.texts });
      rows.forEach((values, row) => {
        if (picked.valid?.[row] !== 0) values.push([name, columnValue(picked, row)!]);
      });
    }
    return rows.map((values, row) => {
      const shown = values.map(([name, value]) => `${name}=${typeof value} ${String(value)}`);
      return `${block.series[row]} ${block.times[row]} ${shown.toSorted().join(',')}`;
    });
  });
}

/** Rows as the log gives them back. */
function logged(staged: StagedTable): readonly RowBlock[] {
  const encoded = encodeStagedTable(staged, 1, 0);
  const shard = { id: 1, policyId: 1, database: 'd', retentionPolicy: 'r', start: 0n, end: 9n };
  const additions = {
    firstMeasurementId: 0,
    measurements: [],
    firstSeriesId: 0,
    series: { count: 0, bytes: new Uint8Array(), measurementIdEnd: 0 },
  };
  const parts = [{ shard, tables: [], encoded: [encoded] }];
  const database = { name: 'd', instance: 1 };
  const framed = encodeFramed({ kind: 'rows', database, additions, parts });
  const record = decodeRecord(framed.subarray(FRAME_BYTES));
  return record.kind === 'rows' ? record.parts.flatMap(({ tables }) => tables) : [];
}

const sorted = (rows: Rows): Rows => rows.toSorted();

function valueText(field: number, salt: number): string {
  switch (field % 4) {
    case 0:
      return `${(salt * 7 - field) / 4}`;
    case 1:
      return `${BigInt(salt - 5) * 1_234_567_890_123n}i`;
    case 2:
      return `"${salt % 3 === 0 ? '' : `text ${salt % 4} ${'x'.repeat(salt % 50)}`}"`;
    default:
      return salt % 2 === 0 ? 't' : 'f';
  }
}

/** Parts of a body: rows of so many fields, so far apart, of some series. */
const PART = fc.record({
  rows: fc.constantFrom(1, 3, 20, 70, 110),
  width: fc.constantFrom(1, 8, 30, 90),
  stride: fc.constantFrom(1, 7, 37),
  hosts: fc.constantFrom(1, 1, 3),
  salt: fc.nat({ max: 900 }),
});

type Part = typeof PART extends fc.Arbitrary<infer T> ? T : never;

function bodyOf(parts: readonly Part[]): string {
  const lines = parts.flatMap(({ rows, width, stride, hosts, salt }) =>
    Array.from({ length: rows }, (_, row) => {
      const fields = Array.from({ length: width }, (__, k) => {
        const field = (salt + row * stride * 13 + k * stride) % FIELDS;
        return `f${field}=${valueText(field, (salt + row) % 90)}`;
      });
      // Of a field that a line has twice, the last value counts.
      const first = (salt + row * stride * 13) % FIELDS;
      if (row % 5 === 0) fields.push(`f${first}=${valueText(first, 2)}`);
      return `m,h=${(row * 7 + salt) % hosts} ${fields.join(',')} ${salt * 1000 + row}`;
    }),
  );
  return lines.join('\n');
}

test('sparse rows are the same in memory and in the log as rows in columns', () => {
  let sparse = 0;
  fc.assert(
    fc.property(
      fc.array(fc.array(PART, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      (bodies) => {
        const parse = parser(true);
        const parseColumns = parser(false);
        for (const parts of bodies) {
          const body = bodyOf(parts);
          const [table] = parse(body);
          const [columns] = parseColumns(body);
          if (table!.isSparse) sparse++;

          const wanted = rowsOf([blockOf(columns!)]);
          expect(columns!.isSparse).toBe(false);
          expect(rowsOf([blockOf(table!)])).toEqual(wanted);
          expect(sorted(rowsOf(logged(table!)))).toEqual(sorted(wanted));
        }
      },
    ),
    { numRuns: 10 },
  );
  expect(sparse).toBeGreaterThan(2);
});

test('columns of long texts are encoded however much room they take', () => {
  const lines = Array.from({ length: 80 }, (_, row) => {
    const fields = Array.from({ length: 4 }, (__, k) => `f${row * 4 + k}="${'é'.repeat(30_000)}"`);
    return `m ${fields.join(',')} ${row}`;
  });
  const [table] = parser(true)(lines.join('\n'));

  expect(table!.isSparse).toBe(true);
  expect(rowsOf(logged(table!))).toEqual(rowsOf([blockOf(table!)]));
});
