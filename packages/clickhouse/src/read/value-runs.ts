// Decodes answers of arrays, and combines the columns into rows of series.
import { columnFrom } from '@tidemark/core';
import type { Column, FieldType } from '@tidemark/core';
import type { FieldRef, SeriesBatch } from '@tidemark/query';

import { RowReader } from '../sql/row-binary.ts';
import type { TypedColumns } from './columns.ts';

type Values = Float64Array | BigInt64Array | BigUint64Array | readonly string[];

/** Values of one field of one series, in the order of the rows. */
export type ValueRun = {
  /** Index of the field in the request. */
  readonly fieldIndex: number;
  readonly times: BigInt64Array;
  readonly values: Values;
};

/**
 * Decodes an answer to runs by series. A row has column, series, times, and an array of values for
 * each pair of types.
 */
export function readRuns(
  answer: Buffer,
  types: readonly TypedColumns[],
): ReadonlyMap<bigint, readonly ValueRun[]> {
  const reader = new RowReader(answer);
  const result = new Map<bigint, ValueRun[]>();
  while (reader.hasMore) {
    const id = reader.uint64();
    const series = reader.uint64();
    const times = reader.int64s();
    let runs = result.get(series);
    if (runs === undefined) result.set(series, (runs = []));
    for (const { type, columns } of types) {
      const values = readArray(reader, type);
      if (values.length === 0) continue;
      for (const { column, fieldIndex } of columns) {
        if (column.id === id) runs.push({ fieldIndex, times, values });
      }
    }
  }
  return result;
}

function readArray(reader: RowReader, type: FieldType): Values {
  switch (type) {
    case 'float':
      return reader.float64s();
    case 'unsigned':
      return reader.uint64s();
    case 'string':
      return reader.texts();
    default:
      return reader.int64s();
  }
}

/** The last time in any run. */
export function lastTime(runs: readonly ValueRun[], descending: boolean): bigint | undefined {
  let last: bigint | undefined;
  for (const { times } of runs) {
    const own = times.at(-1);
    if (own !== undefined && (last === undefined || own < last === descending)) last = own;
  }
  return last;
}

/** Drops the values at the last time. */
export function withoutTime(runs: readonly ValueRun[], last: bigint): readonly ValueRun[] {
  return runs.map((run) => (run.times.at(-1) === last ? firstOf(run, run.times.length - 1) : run));
}

function firstOf({ fieldIndex, times, values }: ValueRun, count: number): ValueRun {
  if (times.length <= count) return { fieldIndex, times, values };
  const kept = Array.isArray(values)
    ? values.slice(0, count)
    : (values as Float64Array).subarray(0, count);
  return { fieldIndex, times: times.subarray(0, count), values: kept };
}

/** The first rows of a series as a batch; `undefined` if it has none. */
export function seriesBatch(
  series: Pick<SeriesBatch, 'tags'> & { readonly key: string },
  all: readonly ValueRun[],
  wanted: {
    readonly fields: readonly FieldRef[];
    readonly descending: boolean;
    readonly limit: number | undefined;
  },
): SeriesBatch | undefined {
  const { fields, descending, limit = Infinity } = wanted;
  const runs = all.map((run) => firstOf(run, limit)).filter(({ times }) => times.length > 0);
  const [first] = runs;
  if (first === undefined) return undefined;
  const isOne = runs.every(({ times }) => areEqual(times, first.times));
  const merged = isOne ? undefined : mergeTimes(runs, { descending, limit });
  const times = merged?.times ?? first.times;
  return {
    seriesKey: series.key,
    tags: series.tags,
    times,
    columns: fields.map(({ type }, fieldIndex) => {
      const own = runs.flatMap((run, i) =>
        run.fieldIndex === fieldIndex ? [{ values: run.values, rows: merged?.rows[i] }] : [],
      );
      const [only] = own;
      if (only === undefined)
        return columnFrom(
          type,
          Array.from(times, () => null),
        );
      const isWhole = own.length === 1 && only.rows === undefined;
      if (isWhole) return columnOf(type, only.values, undefined);
      return scattered(type, own, times.length);
    }),
  };
}

function areEqual(a: BigInt64Array, b: BigInt64Array): boolean {
  return a === b || (a.length === b.length && Buffer.compare(bytesOf(a), bytesOf(b)) === 0);
}

function bytesOf({ buffer, byteOffset, byteLength }: BigInt64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/**
 * Merges the times of all runs, and maps the values of each run to rows; values beyond the limit
 * have no row.
 */
function mergeTimes(
  runs: readonly ValueRun[],
  { descending, limit }: { readonly descending: boolean; readonly limit: number },
) {
  const most = runs.reduce((sum, { times }) => sum + times.length, 0);
  const times = new BigInt64Array(Math.min(most, limit));
  const rows = runs.map((run) => new Uint32Array(run.times.length));
  const heads = runs.map((run) => run.times[0]);
  const next = runs.map(() => 0);
  let count = 0;
  for (; count < times.length; count++) {
    let time: bigint | undefined;
    for (const head of heads) {
      if (head !== undefined && (time === undefined || head < time !== descending)) time = head;
    }
    if (time === undefined) break;
    times[count] = time;
    for (let i = 0; i < heads.length; i++) {
      if (heads[i] !== time) continue;
      const at = next[i]!++;
      rows[i]![at] = count;
      heads[i] = runs[i]!.times[at + 1];
    }
  }
  return {
    times: times.subarray(0, count),
    rows: rows.map((own, i) => own.subarray(0, next[i])),
  };
}

/** A column that has values at some rows. */
function scattered(
  type: FieldType,
  runs: readonly { readonly values: Values; readonly rows: Uint32Array | undefined }[],
  length: number,
): Column {
  const valid = new Uint8Array(length);
  const target: { [row: number]: Values[number] } & Values =
    type === 'float'
      ? new Float64Array(length)
      : type === 'string'
        ? Array.from({ length }, () => '')
        : type === 'unsigned'
          ? new BigUint64Array(length)
          : new BigInt64Array(length);
  for (const { values, rows } of runs) {
    const count = rows?.length ?? length;
    for (let i = 0; i < count; i++) {
      const row = rows?.[i] ?? i;
      valid[row] = 1;
      target[row] = values[i]!;
    }
  }
  return columnOf(type, target, valid.includes(0) ? valid : undefined);
}

function columnOf(type: FieldType, values: Values, valid: Uint8Array | undefined): Column {
  switch (type) {
    case 'float':
      return { type, values: values as Float64Array, valid };
    case 'integer':
      return { type, values: values as BigInt64Array, valid };
    case 'unsigned':
      return { type, values: values as BigUint64Array, valid };
    case 'boolean':
      return { type, values: Uint8Array.from(values as BigInt64Array, Number), valid };
    case 'string': {
      const column = columnFrom(type, values as readonly string[]);
      return { ...column, valid };
    }
  }
}
