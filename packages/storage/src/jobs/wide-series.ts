// Rows of a series with so many fields that all its columns do not fit into memory together, mostly
// because each row has few of them. The rows are divided by time, and the columns of each part are
// built one by one.
import type { Column } from '@tidemark/core';

import type { Table } from '../memtable/table.ts';
import { columnOf, valuesOf } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { newFieldArray } from '../columns/row-block.ts';
import { chunkRowsMax } from '../segment/format.ts';
import type { SegmentField } from '../segment/format.ts';

/**
 * Runs in the order of time, each of as many rows as a chunk may have; pauses behind each column.
 */
export function* wideRuns(
  table: Table,
  rows: Uint32Array,
  fields: readonly SegmentField[],
): Generator<Run | undefined, void> {
  const arrived = table.pick(rows).times();
  const order = Uint32Array.from(rows, (_, i) => i);
  // Rows of equal times stay in the order in which they came: sorting is stable.
  order.sort((a, b) => (arrived[a]! < arrived[b]! ? -1 : arrived[a]! > arrived[b]! ? 1 : 0));
  yield undefined;
  const rowsMax = chunkRowsMax(fields.length);
  for (let from = 0; from < order.length;) {
    const ends: number[] = [];
    let at = from;
    while (at < order.length && ends.length < rowsMax) {
      const time = arrived[order[at]!]!;
      while (at < order.length && arrived[order[at]!] === time) at++;
      ends.push(at - from);
    }
    const part = order.subarray(from, at);
    const pick = table.pick(part.map((i) => rows[i]!));
    const columns: Run['columns'][number][] = [];
    for (const field of fields) {
      const column = pick.column(field);
      columns.push(column && lastOfEach(column, ends));
      yield undefined;
    }
    yield { times: BigInt64Array.from(ends, (end) => arrived[part[end - 1]!]!), columns };
    from = at;
  }
}

/**
 * Of neighbouring rows that end at `ends` the last value each; `undefined` when there is none at
 * all.
 */
function lastOfEach(column: Column, ends: readonly number[]): Column | undefined {
  const from = valuesOf(column);
  const { valid } = column;
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
  const dictionary = column.type === 'string' ? column.dictionary : undefined;
  return columnOf(column.type, {
    values,
    valid: count === ends.length ? undefined : found,
    dictionary,
  });
}
