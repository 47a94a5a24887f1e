// Rows of a series with so many fields that all its columns do not fit into memory together, mostly
// because each row has few of them. The rows are divided by time, and the columns of each part are
// built and written one by one.
import { textsBytes } from '@tidemark/core';
import type { Column } from '@tidemark/core';

import { columnOf, valuesOf } from '../columns/run.ts';
import { newFieldArray } from '../columns/row-block.ts';
import { CHUNK_TEXT_BYTES } from '../columns/run-texts.ts';
import { chunkRowsMax } from '../segment/format.ts';
import type { SegmentField } from '../segment/format.ts';
import type { SegmentWriter } from '../segment/writer.ts';

/** Rows of one series in the order of their writes. */
export type WideRows = {
  readonly times: BigInt64Array;
  /** Values of all rows and fields; it may be an estimate. */
  readonly valueCount: number;
  /**
   * Selects rows by their numbers. The function that it returns gives their values of a field, by
   * its index; `undefined` when there is none.
   */
  readonly pick: (rows: Uint32Array) => (field: number) => Column | undefined;
};

/** Columns that are built between two pauses. */
const STEP_COLUMNS = 16;

/** Writes the rows as chunks of the present series. */
export function* writeWideRows(
  writer: SegmentWriter,
  rows: WideRows,
  fields: readonly SegmentField[],
): Generator<undefined, void> {
  const { times } = rows;
  if (times.length === 0) return;
  const order = Uint32Array.from(times, (_, i) => i);
  // Rows of equal times stay in the order in which they came: sorting is stable.
  order.sort((a, b) => (times[a]! < times[b]! ? -1 : times[a]! > times[b]! ? 1 : 0));
  yield undefined;
  const ends: number[] = [];
  for (let i = 1; i <= order.length; i++) {
    if (i === order.length || times[order[i]!] !== times[order[i - 1]!]) ends.push(i);
  }
  // Even parts: 4,100 rows become two chunks of 2,050, not one full and one of four rows.
  const parts = Math.ceil(ends.length / chunkRowsMax(ends.length, rows.valueCount));
  const texts = fields.flatMap(({ type }, i) => (type === 'string' ? [i] : []));
  const source = { rows, order, ends, texts };
  for (let i = 0; i < parts; i++) {
    const from = Math.floor((ends.length * i) / parts);
    const to = Math.floor((ends.length * (i + 1)) / parts);
    yield* writePart(writer, source, { from, to });
  }
}

type Source = {
  readonly rows: WideRows;
  /** Numbers of the rows in the order of time. */
  readonly order: Uint32Array;
  /** Where the rows of each distinct time end in `order`. */
  readonly ends: readonly number[];
  /** Indexes of the fields of strings. */
  readonly texts: readonly number[];
};

/** Writes the rows of the distinct times [from, to); halves them until their texts fit a chunk. */
function* writePart(
  writer: SegmentWriter,
  source: Source,
  { from, to }: { readonly from: number; readonly to: number },
): Generator<undefined, void> {
  const { rows, order, texts } = source;
  const first = from === 0 ? 0 : source.ends[from - 1]!;
  const ends = source.ends.slice(from, to).map((end) => end - first);
  const part = order.subarray(first, first + ends.at(-1)!);
  const picked = rows.pick(part);
  if (texts.length > 0 && to - from > 1) {
    let bytes = 0;
    for (const [i, field] of texts.entries()) {
      const column = picked(field);
      if (column?.type === 'string') bytes += textsBytes(column.texts);
      if (bytes > CHUNK_TEXT_BYTES) break;
      if (i % STEP_COLUMNS === STEP_COLUMNS - 1) yield undefined;
    }
    if (bytes > CHUNK_TEXT_BYTES) {
      const middle = (from + to) >>> 1;
      yield* writePart(writer, source, { from, to: middle });
      yield* writePart(writer, source, { from: middle, to });
      return;
    }
  }
  const times = BigInt64Array.from(ends, (end) => rows.times[part[end - 1]!]!);
  yield* writer.addColumnsInSteps(times, (field) => {
    const column = picked(field);
    return column && lastOfEach(column, ends);
  });
}

/**
 * The last value of each run of neighbouring rows, which end at `ends`; `undefined` when no run has
 * one.
 */
function lastOfEach(column: Column, ends: readonly number[]): Column | undefined {
  const { valid } = column;
  const from = valuesOf(column);
  if (ends.length === from.length) return valid?.includes(1) === false ? undefined : column;
  const values = newFieldArray(column.type, ends.length);
  const found = new Uint8Array(ends.length);
  let count = 0;
  for (let i = 0, start = 0; i < ends.length; i++) {
    const end = ends[i]!;
    let at = end - 1;
    while (valid !== undefined && at >= start && valid[at] === 0) at--;
    if (at >= start) {
      values[i] = from[at]!;
      found[i] = 1;
      count++;
    }
    start = end;
  }
  if (count === 0) return undefined;
  const texts = column.type === 'string' ? column.texts : undefined;
  return columnOf(column.type, {
    values,
    valid: count === ends.length ? undefined : found,
    texts,
  });
}
