import { columnValue, MAX_INT64, MIN_INT64, textsOf } from '@tidemark/core';
import type { Column, FieldType, FieldValue } from '@tidemark/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { columnOf } from '../columns/run.ts';
import { newFieldArray, RowBlock } from '../columns/row-block.ts';
import { Deletion } from './deletion.ts';
import { Table } from './table.ts';

type Row = { readonly time: bigint; readonly values: ReadonlyMap<string, FieldValue> };

const INDEX = { ordinalOf: (series: number) => series };
const FIELDS = 700;
const TYPES: readonly FieldType[] = ['float', 'integer', 'unsigned', 'boolean', 'string'];

const typeOf = (field: number): FieldType => TYPES[field % TYPES.length]!;

function valueOf(field: number, salt: number): FieldValue {
  switch (typeOf(field)) {
    case 'float':
      return salt === 0 ? -0 : salt / 8 - field;
    case 'integer':
      return BigInt(salt) * -1_000_000_007n * BigInt(field);
    case 'unsigned':
      return BigInt.asUintN(64, -1n - BigInt(salt + field));
    case 'boolean':
      return (salt + field) % 2 === 1;
    case 'string':
      return salt % 3 === 0 ? '' : `text ${(salt + field) % 5}`;
  }
}

/** A block with columns, as a batch or a record of the log has them. */
function blockOf(rows: readonly Row[]): RowBlock {
  const times = BigInt64Array.from(rows, ({ time }) => time);
  const bounds = { min: times[0]!, max: times.at(-1)! };
  const block = RowBlock.adopt(1, new Uint32Array(rows.length).fill(1), times, bounds);
  for (let field = 0; field < FIELDS; field++) {
    const name = `f${field}`;
    if (!rows.some(({ values }) => values.has(name))) continue;
    const values = newFieldArray(typeOf(field), rows.length);
    const dictionary = ['', ...new Set(rows.map(({ values: all }) => String(all.get(name) ?? '')))];
    rows.forEach(({ values: all }, row) => {
      const value = all.get(name) ?? 0;
      if (typeof value === 'string') values[row] = dictionary.indexOf(value);
      else
        values[row] =
          values instanceof BigInt64Array || values instanceof BigUint64Array
            ? BigInt(value)
            : Number(value);
    });
    const bytes = Uint8Array.from(rows, ({ values: all }) => (all.has(name) ? 1 : 0));
    const valid = bytes.includes(0) ? bytes : undefined;
    block.setColumn(name, columnOf(typeOf(field), { values, valid, texts: textsOf(dictionary) }));
  }
  return block;
}

/** Rows by their numbers, as a reader gets them. */
function read(table: Table, numbers: readonly number[]): Row[] {
  const pick = table.pick(Uint32Array.from(numbers));
  const rows = Array.from(pick.times(), (time) => ({
    time,
    values: new Map<string, FieldValue>(),
  }));
  const present = (column: Column | undefined): readonly boolean[] =>
    rows.map((_, i) => column !== undefined && column.valid?.[i] !== 0);
  for (const [name, type] of table.fields) {
    const column = pick.column({ name, type });
    if (table.typeOf(name) !== type) expect.fail(name);
    const having = present(column);
    if (present(pick.presence(name)).some((has, i) => has !== having[i])) expect.fail(name);
    having.forEach((has, i) => {
      if (has) rows[i]!.values.set(name, columnValue(column!, i)!);
    });
  }
  return rows;
}

const sorted = ({ time, values }: Row): unknown => [
  time,
  [...values].toSorted(([a], [b]) => (a < b ? -1 : 1)),
];

/** Requests: rows of so many neighbouring or scattered fields. */
const BATCH = fc.record({
  rows: fc.constantFrom(1, 1, 1, 2, 5, 5, 40, 1030),
  width: fc.constantFrom(1, 12, 90),
  stride: fc.constantFrom(1, 7, 37),
  salt: fc.nat({ max: 1000 }),
});

/** Rows that are listed, rows with columns, and both behind each other. */
const EXAMPLES: [{ rows: number; width: number; stride: number; salt: number }[], number][] = [
  [[{ rows: 1030, width: 1, stride: 7, salt: 0 }], 1],
  [[{ rows: 5, width: 12, stride: 1, salt: 0 }], 2],
  [
    [
      { rows: 40, width: 12, stride: 37, salt: 0 },
      { rows: 1030, width: 90, stride: 1, salt: 9 },
      { rows: 1, width: 1, stride: 1, salt: 5 },
    ],
    3,
  ],
];

test('rows of few fields each read as they were written, in every snapshot and after deletes', () => {
  let sparse = 0;
  let dense = 0;
  fc.assert(
    fc.property(fc.array(BATCH, { minLength: 1, maxLength: 8 }), fc.nat(), (batches, seed) => {
      const table = new Table(1, INDEX);
      const model: Row[] = [];
      for (const { rows, width, stride, salt } of batches) {
        const added = Array.from({ length: rows }, (_, i): Row => {
          const values = new Map<string, FieldValue>();
          for (let k = 0; k < width; k++) {
            const field = (salt + i * stride * 11 + k * stride) % FIELDS;
            values.set(`f${field}`, valueOf(field, (salt + i) % 17));
          }
          return { time: BigInt(model.length + i), values };
        });
        const before = model.length;
        const some = [...new Set([0, before >>> 1, before - 1])].filter((_, i) => i < before);
        const held = table.pick(Uint32Array.from(some));
        table.append(blockOf(added));
        model.push(...added);
        const wrong = [...table.fields].filter(([name, type]) => {
          const column = held.column({ name, type });
          return some.some((row, i) => {
            const value = column === undefined ? null : columnValue(column, i);
            return !Object.is(value, model[row]!.values.get(name) ?? null);
          });
        });
        expect(wrong).toEqual([]);
      }
      for (const { sparse: values } of table.blocks)
        if (values === undefined) dense++;
        else sparse++;

      const all = model.map((_, row) => row);
      const scattered = all.filter((row) => (row * 7 + seed) % 5 === 0).toReversed();
      expect(read(table, all).map(sorted)).toEqual(model.map(sorted));
      expect(read(table, scattered).map(sorted)).toEqual(
        scattered.map((row) => sorted(model[row]!)),
      );
      expect(table.valueCount).toBe(model.reduce((sum, { values }) => sum + values.size, 0));

      const start = BigInt(seed % (model.length + 1));
      const deleted = [{ measurementId: 1, series: undefined }];
      const kept = new Deletion({ start, end: start + 20n }, deleted).apply(table);
      const left = model.filter(({ time }) => time < start || time > start + 20n);
      expect(
        read(
          kept ?? table.empty(),
          left.map((_, row) => row),
        ).map(sorted),
      ).toEqual(left.map(sorted));
      expect(
        new Deletion({ start: MIN_INT64, end: MAX_INT64 }, deleted).apply(table),
      ).toBeUndefined();
    }),
    { numRuns: 10, examples: EXAMPLES },
  );
  expect(sparse).toBeGreaterThan(0);
  expect(dense).toBeGreaterThan(0);
});

test('a value of rows with few of many fields takes little memory, however they arrive', () => {
  const rows = Array.from({ length: 2000 }, (_, i): Row => {
    const fields = Array.from({ length: 10 }, (__, k) => (i * 97 + k * 61) % FIELDS);
    return {
      time: BigInt(i),
      values: new Map(fields.map((field) => [`f${field}`, valueOf(field, 1)])),
    };
  });
  for (const size of [1, 50, 2000]) {
    const table = new Table(1, INDEX);
    for (let at = 0; at < rows.length; at += size) table.append(blockOf(rows.slice(at, at + size)));

    expect(table.memoryBytes / table.valueCount).toBeLessThan(40);
  }
});
