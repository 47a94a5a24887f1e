// An answer with values one by one, put together to rows of series.
import { columnFrom } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';
import type { FieldRef, Predicate, SeriesBatch } from '@tidemark/query';

import { RowReader } from '../sql/row-binary.ts';
import { convertValue, VALUE_COLUMN } from './columns.ts';
import type { StoredColumn } from './columns.ts';
import { rowHolds } from './row-condition.ts';

type Value = { readonly column: StoredColumn; readonly value: FieldValue };

/** A row as it is stored: its values in no order. */
type StoredRow = { readonly time: bigint; readonly values: Value[] };

/** Table columns that hold values of the stored columns, in the order in which they are read. */
export function valueColumns(columns: readonly StoredColumn[]): readonly ('f' | 'i' | 's')[] {
  const used = new Set(columns.map(({ type }) => VALUE_COLUMN[type]));
  return (['f', 'i', 's'] as const).filter((name) => used.has(name));
}

/** Rows by series, from an answer that is sorted by series and time. */
export function readValues(
  answer: Buffer,
  columns: readonly StoredColumn[],
): ReadonlyMap<bigint, readonly StoredRow[]> {
  const byId = new Map(columns.map((column) => [column.id, column]));
  const names = valueColumns(columns);
  const [hasFloats, hasIntegers, hasTexts] = (['f', 'i', 's'] as const).map((name) =>
    names.includes(name),
  );
  const reader = new RowReader(answer);
  const result = new Map<bigint, StoredRow[]>();
  let rows: StoredRow[] = [];
  let series: bigint | undefined;
  let row: StoredRow | undefined;
  while (reader.hasMore) {
    const columnId = reader.uint64();
    const id = reader.uint64();
    const time = reader.int64();
    const float = hasFloats === true ? reader.float64() : 0;
    const integer = hasIntegers === true ? reader.int64() : 0n;
    const text = hasTexts === true ? reader.text() : '';
    if (id !== series) {
      series = id;
      row = undefined;
      result.set(id, (rows = []));
    }
    const column = byId.get(columnId);
    if (column === undefined) continue;
    if (row?.time !== time) rows.push((row = { time, values: [] }));
    row.values.push({ column, value: valueOf(column, { float, integer, text }) });
  }
  return result;
}

function valueOf(
  { type }: StoredColumn,
  {
    float,
    integer,
    text,
  }: { readonly float: number; readonly integer: bigint; readonly text: string },
): FieldValue {
  switch (type) {
    case 'float':
      return float;
    case 'integer':
      return integer;
    case 'unsigned':
      return BigInt.asUintN(64, integer);
    case 'boolean':
      return integer !== 0n;
    case 'string':
      return text;
  }
}

/** The rows of a series that are delivered: those that meet the condition and hold a field. */
export function seriesBatch(
  series: Pick<SeriesBatch, 'tags'> & { readonly key: string },
  rows: readonly StoredRow[],
  wanted: {
    readonly fields: readonly FieldRef[];
    readonly residual: Predicate | undefined;
    readonly limit: number | undefined;
  },
): SeriesBatch | undefined {
  const { fields, residual, limit } = wanted;
  const kept: StoredRow[] = [];
  for (const row of rows) {
    if (kept.length === limit) break;
    if (!row.values.some(({ column }) => column.places.length > 0)) continue;
    if (residual !== undefined) {
      const valueIn = (field: string): FieldValue | undefined =>
        row.values.find(({ column }) => column.field === field)?.value;
      if (!rowHolds(residual, valueIn)) continue;
    }
    kept.push(row);
  }
  if (kept.length === 0) return undefined;
  const cells = fields.map(() => Array.from<FieldValue | undefined>({ length: kept.length }));
  kept.forEach(({ values }, at) => {
    for (const { column, value } of values) {
      for (const place of column.places) {
        cells[place]![at] = convertValue(value, fields[place]!.type);
      }
    }
  });
  return {
    seriesKey: series.key,
    tags: series.tags,
    times: BigInt64Array.from(kept, ({ time }) => time),
    columns: fields.map(({ type }, i) => columnFrom(type, cells[i] ?? [])),
  };
}
