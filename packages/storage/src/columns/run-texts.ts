// Texts of runs. A column of strings has the texts of all rows that were read with it. Rows that
// are passed on, or written to a chunk, are cut into parts of limited size, which keep only the
// texts that their rows have.
import { compactTexts, textCount, textLength, textsBytes } from '@tidemark/core';
import type { Column, StringColumn } from '@tidemark/core';

import { sliceRun } from './run.ts';
import type { Run } from './run.ts';

/** Texts of a chunk of one series: to read one text of it, all of its bytes are unpacked. */
export const CHUNK_TEXT_BYTES = 1 << 20;

/**
 * Texts of a chunk that series share, and of rows that are passed on at once: a few milliseconds of
 * decoding, and so little that dozens of requests fit into memory. A single row may have more.
 */
export const TEXT_PART_BYTES = 4 << 20;

/**
 * Texts of a batch. Batches wait for their reader together, so each is as small as a message.
 */
export const BATCH_TEXT_BYTES = 256 << 10;

function textColumns(run: Run): StringColumn[] {
  const columns: StringColumn[] = [];
  for (const column of run.columns) if (column?.type === 'string') columns.push(column);
  return columns;
}

/** Size of the texts of rows [start, end), each counted as often as it occurs. */
export function textsOfRows(run: Run, start: number, end: number): number {
  let bytes = 0;
  for (const { codes, texts, valid } of textColumns(run)) {
    for (let row = start; row < end; row++) {
      if (valid === undefined || valid[row] === 1) bytes += textLength(texts, codes[row]!);
    }
  }
  return bytes;
}

/**
 * Cuts a run into parts whose distinct texts take at most `maxBytes` together; a part of one row
 * may take more. Views of the same arrays.
 */
export function* cutByTexts(run: Run, maxBytes: number): Generator<Run> {
  const columns = textColumns(run).filter(({ texts }) => textCount(texts) > 0);
  const all = columns.reduce((sum, { texts }) => sum + textsBytes(texts), 0);
  const rows = run.times.length;
  if (all <= maxBytes || rows <= 1) {
    yield run;
    return;
  }
  // The number of the last part, from 1, in which a text occurred.
  const partOf = columns.map(({ texts }) => new Uint32Array(textCount(texts)));
  let part = 1;
  let start = 0;
  let bytes = 0;
  for (let row = 0; row < rows; row++) {
    let added = addRow(columns, { row, part, partOf });
    if (bytes + added > maxBytes && row > start) {
      yield sliceRun(run, start, row);
      start = row;
      bytes = 0;
      added = addRow(columns, { row, part: ++part, partOf });
    }
    bytes += added;
  }
  yield sliceRun(run, start, rows);
}

/** Size of those texts of a row that are new in the part. Records them. */
function addRow(
  columns: readonly StringColumn[],
  at: {
    readonly row: number;
    readonly part: number;
    readonly partOf: readonly Uint32Array[];
  },
): number {
  const { row, part, partOf } = at;
  let bytes = 0;
  for (let i = 0; i < columns.length; i++) {
    const { codes, texts, valid } = columns[i]!;
    if (valid !== undefined && valid[row] !== 1) continue;
    const code = codes[row]!;
    const seen = partOf[i]!;
    if (seen[code] === part) continue;
    seen[code] = part;
    bytes += textLength(texts, code);
  }
  return bytes;
}

/** The same rows, with hardly more texts than they have. */
export function withUsedTexts(run: Run): Run {
  if (run.columns.every((column) => column?.type !== 'string')) return run;
  return { times: run.times, columns: run.columns.map((column) => column && withOwnTexts(column)) };
}

/** The column with hardly more texts than its rows have. */
export function withOwnTexts(column: Column): Column {
  return column.type === 'string' ? compactTexts(column) : column;
}
