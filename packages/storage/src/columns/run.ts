// Runs: rows of one series in columns, strictly ascending in time. Readers produce, merge, cut and
// filter them.
import { assert, concatTexts, NO_TEXTS, textCount } from '@tidemark/core';
import type { Column, FieldType, Texts } from '@tidemark/core';

import { copyValues, newFieldArray } from './row-block.ts';
import type { FieldArray } from './row-block.ts';
import { ascendingEnd, halvesOf, RowKeys, rowOrder } from './row-order.ts';

/** Columns are in the order of the request; `undefined` = the field is null in all rows. */
export type Run = {
  readonly times: BigInt64Array;
  readonly columns: readonly (Column | undefined)[];
};

/** The array of a column of any type: its values, or the codes of strings. */
export function valuesOf(column: Column): FieldArray {
  return column.type === 'string' ? column.codes : column.values;
}

/** A column of a type from its array. */
export function columnOf(
  type: FieldType,
  parts: {
    readonly values: FieldArray;
    readonly valid: Uint8Array | undefined;
    readonly texts?: Texts | undefined;
  },
): Column {
  const { values, valid } = parts;
  switch (type) {
    case 'float':
      return { type, values: values as Float64Array, valid };
    case 'integer':
      return { type, values: values as BigInt64Array, valid };
    case 'unsigned':
      return { type, values: values as BigUint64Array, valid };
    case 'boolean':
      return { type, values: values as Uint8Array, valid };
    case 'string':
      return { type, codes: values as Uint32Array, texts: parts.texts ?? NO_TEXTS, valid };
  }
}

function rebuilt(column: Column, values: FieldArray, valid: Uint8Array | undefined): Column {
  const texts = column.type === 'string' ? column.texts : undefined;
  return columnOf(column.type, { values, valid, texts });
}

/** Rows [start, end). Views of the same arrays. */
export function sliceRun(run: Run, start: number, end: number): Run {
  if (start === 0 && end === run.times.length) return run;
  return {
    times: run.times.subarray(start, end),
    columns: run.columns.map((column) => column && sliceColumn(column, start, end)),
  };
}

/** Rows [start, end) of a column. Views of the same arrays. */
export function sliceColumn(column: Column, start: number, end: number): Column {
  const values = valuesOf(column);
  if (start === 0 && end === values.length) return column;
  return rebuilt(
    column,
    values.subarray(start, end) as FieldArray,
    column.valid?.subarray(start, end),
  );
}

/** A copy of the given rows, in the order of `rows`. */
export function takeRows(run: Run, rows: Uint32Array): Run {
  const times = new BigInt64Array(rows.length);
  gather(run.times, rows, times);
  return { times, columns: run.columns.map((column) => column && takeColumn(column, rows)) };
}

function takeColumn(column: Column, rows: Uint32Array): Column {
  const from = valuesOf(column);
  const values = newFieldArray(column.type, rows.length);
  gather(from, rows, values);
  if (column.valid === undefined) return rebuilt(column, values, undefined);
  const valid = new Uint8Array(rows.length);
  for (let i = 0; i < rows.length; i++) valid[i] = column.valid[rows[i]!]!;
  return rebuilt(column, values, valid);
}

/**
 * target[i] = source[rows[i]]. Values of eight bytes are copied as two 32-bit words, since reading
 * an int64 element allocates a bigint.
 */
function gather(source: FieldArray, rows: Uint32Array, target: FieldArray): void {
  // For a few rows, creating the two views costs more than it saves.
  if (source.BYTES_PER_ELEMENT !== 8 || rows.length < WORDS_FROM_ROWS) {
    for (let i = 0; i < rows.length; i++) target[i] = source[rows[i]!]!;
    return;
  }
  const from = wordsOf(source);
  const to = wordsOf(target);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]! * 2;
    to[2 * i] = from[row]!;
    to[2 * i + 1] = from[row + 1]!;
  }
}

const WORDS_FROM_ROWS = 16;

/** A view of eight-byte values as low and high 32-bit words. */
function wordsOf(array: FieldArray): Int32Array {
  return new Int32Array(array.buffer, array.byteOffset, array.length * 2);
}

export function reverseRun(run: Run): Run {
  const rows = new Uint32Array(run.times.length);
  for (let i = 0; i < rows.length; i++) rows[i] = rows.length - 1 - i;
  return takeRows(run, rows);
}

/** Rows whose byte in `keep` is 1. */
export function filterRun(run: Run, keep: Uint8Array): Run {
  const rows = new Uint32Array(run.times.length);
  let count = 0;
  for (let i = 0; i < rows.length; i++) if (keep[i] === 1) rows[count++] = i;
  if (count === 0) return sliceRun(run, 0, 0);
  return count === rows.length ? run : takeRows(run, rows.subarray(0, count));
}

/** First row whose time is not below `time`. */
export function lowerBound(times: BigInt64Array, time: bigint, from = 0): number {
  // Exponential search: callers go from window to window, so the wanted row is near `from`.
  let low = from;
  let high = from;
  for (let step = 1; high < times.length && times[high]! < time; step *= 2) {
    low = high + 1;
    high = Math.min(times.length, high + step);
  }
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The rows within a range, bounds included. Views of the same arrays. */
export function clipRun(run: Run, start: bigint, end: bigint): Run {
  const count = run.times.length;
  if (count === 0 || (run.times[0]! >= start && run.times[count - 1]! <= end)) return run;
  const first = lowerBound(run.times, start);
  return sliceRun(run, first, lowerBound(run.times, end + 1n, first));
}

/**
 * Merges runs of one series; at equal times each field takes the value of the last run that has
 * one. A run may hold a time several times (rows in write order); later rows win.
 */
export function mergeRuns(runs: readonly Run[]): Run {
  const first = runs[0];
  assert(first !== undefined, 'something to merge');
  if (runs.length === 1 && isStrictlyAscending(first.times)) return first;
  const all = concatRuns(runs);
  return mergeRows(all, new RowKeys(all.times)).run;
}

export function isStrictlyAscending(times: BigInt64Array): boolean {
  return ascendingEnd(halvesOf(times), 0, times.length) === times.length;
}

/** First row of a run, where several lie one after another and end at `ends`. */
export function runStart(ends: Uint32Array, run: number): number {
  return run === 0 ? 0 : ends[run - 1]!;
}

/** Indexes of those runs, ending at `ends`, whose times do not ascend strictly. */
export function unorderedRuns(times: BigInt64Array, ends: Uint32Array): number[] {
  const halves = halvesOf(times);
  const unordered: number[] = [];
  let start = 0;
  for (let run = 0; run < ends.length; run++) {
    const end = ends[run]!;
    if (ascendingEnd(halves, start, end) < end) unordered.push(run);
    start = end;
  }
  return unordered;
}

/** Rows of all runs one after another. */
export function concatRuns(runs: readonly Run[]): Run {
  const first = runs[0];
  assert(first !== undefined, 'something to concatenate');
  if (runs.length === 1) return first;
  let count = 0;
  for (const run of runs) count += run.times.length;
  const times = new BigInt64Array(count);
  let at = 0;
  for (const run of runs) {
    times.set(run.times, at);
    at += run.times.length;
  }
  const columns = first.columns.map((_, i) => concatColumn(runs, i, count));
  return { times, columns };
}

function concatColumn(runs: readonly Run[], index: number, count: number): Column | undefined {
  const typed = runs.find((run) => run.columns[index] !== undefined)?.columns[index];
  if (typed === undefined) return undefined;
  const values = newFieldArray(typed.type, count);
  const isFull = runs.every((run) => {
    const column = run.columns[index];
    return column !== undefined && column.valid === undefined;
  });
  const valid = isFull ? undefined : new Uint8Array(count);
  const texts: Texts[] = [];
  let firstText = 0;
  let at = 0;
  for (const run of runs) {
    const column = run.columns[index];
    const length = run.times.length;
    if (column !== undefined) {
      assert(column.type === typed.type, 'a field has one type within a shard');
      if (column.type === 'string') {
        for (let i = 0; i < length; i++) values[at + i] = column.codes[i]! + firstText;
        texts.push(column.texts);
        firstText += textCount(column.texts);
      } else copyValues(values, column.values, at);
      if (valid !== undefined) {
        if (column.valid === undefined) valid.fill(1, at, at + length);
        else valid.set(column.valid, at);
      }
    }
    at += length;
  }
  return columnOf(typed.type, { values, valid, texts: concatTexts(texts) });
}

/**
 * Sorts rows by their keys and merges those with equal keys: each field takes the value of the last
 * row that has one. `rows` are, for each row of the result, the number of an input row with its
 * key.
 */
export function mergeRows(
  run: Run,
  keys: RowKeys,
): { readonly run: Run; readonly rows: Uint32Array } {
  const order = rowOrder(keys);
  // groupEnds[g] = end in `order` of the rows that share the g-th distinct key.
  const groupEnds: number[] = [];
  for (let i = 1; i <= order.length; i++) {
    if (i === order.length || keys.isBefore(order[i - 1]!, order[i]!)) groupEnds.push(i);
  }
  if (groupEnds.length === order.length) return { run: takeRows(run, order), rows: order };
  const lastRows = Uint32Array.from(groupEnds, (end) => order[end - 1]!);
  const times = new BigInt64Array(groupEnds.length);
  gather(run.times, lastRows, times);
  const columns = run.columns.map((column) => {
    if (column?.valid === undefined) return column && rowsOfColumn(column, lastRows, undefined);
    return lastValues(column, order, groupEnds);
  });
  return { run: { times, columns }, rows: lastRows };
}

/** For each group of rows with equal keys, the value of the last row that has one. */
function lastValues(column: Column, order: Uint32Array, groupEnds: readonly number[]): Column {
  const rows = new Uint32Array(groupEnds.length);
  const valid = new Uint8Array(groupEnds.length);
  let start = 0;
  for (let g = 0; g < groupEnds.length; g++) {
    const end = groupEnds[g]!;
    let i = end - 1;
    while (i > start && column.valid?.[order[i]!] !== 1) i--;
    rows[g] = order[i]!;
    valid[g] = column.valid?.[order[i]!] ?? 1;
    start = end;
  }
  return rowsOfColumn(column, rows, valid);
}

/** The values of the given rows; a column of strings keeps its texts. */
function rowsOfColumn(column: Column, rows: Uint32Array, valid: Uint8Array | undefined): Column {
  const values = newFieldArray(column.type, rows.length);
  gather(valuesOf(column), rows, values);
  return rebuilt(column, values, valid);
}
