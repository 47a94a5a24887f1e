// Packs short batches of rows into one array of 64-bit words, and unpacks them. A query over a
// hundred series gets a few rows of each, and a view for every column would cost more than the
// values.
import { rowsBytes, tagsBytes, textBytes } from '@tidemark/core';
import type { SeriesBatch } from '@tidemark/query';

import { BATCH_BYTES, placeColumns } from './message-buffers.ts';
import { numberColumn } from './packed-columns.ts';
import type { PackedType } from './packed-columns.ts';
import type { BatchPacking } from './packing.ts';

/**
 * Short batches of rows of several series in one array. Columns have no nulls, strings or booleans.
 * All batches have the same types.
 */
export type PackedRows = {
  readonly kind: 'packed-rows';
  /** For each series its key, then keys and values of its tags. */
  readonly series: readonly (readonly [key: string, ...tags: string[]])[];
  /** For each batch the index of its series in `series`. */
  readonly seriesOf: Uint32Array;
  /** Number of rows of each batch. */
  readonly rowCounts: Uint32Array;
  readonly types: readonly PackedType[];
  /** Times of all batches, then each column of all batches. */
  readonly words: Float64Array<ArrayBuffer>;
};

export const ROWS_PACKING: BatchPacking<SeriesBatch, PackedRows> = {
  sizeOf: ({ seriesKey, tags, times, columns }) =>
    BATCH_BYTES + textBytes(seriesKey) + tagsBytes(tags) + rowsBytes(times, columns),
  packRun: (batches, at, buffers) => {
    const packed = packRows(batches, at);
    if (packed === undefined) return undefined;
    const sent = { ...packed, words: buffers.place(packed.words) };
    return { sent, count: packed.rowCounts.length };
  },
  packOne: (batch, buffers) => {
    const { times, columns } = batch;
    return { ...batch, times: buffers.place(times), columns: placeColumns(columns, buffers) };
  },
  unpackRun: (sent) => ('kind' in sent ? unpackRows(sent) : undefined),
};

/** Batches with more rows are transferred instead of copied. */
const ROWS_MAX = 2048;

/** Packs the batches from `at` on, if at least two can be packed. */
function packRows(batches: readonly SeriesBatch[], at: number): PackedRows | undefined {
  const first = batches[at];
  if (!isPackable(first)) return undefined;
  const types = first.columns.map(({ type }) => type as PackedType);
  let end = at + 1;
  let rows = first.times.length;
  for (; end < batches.length; end++) {
    const next = batches[end];
    if (!isPackable(next) || !haveTypes(next, types)) break;
    rows += next.times.length;
  }
  if (end - at < 2) return undefined;
  const chosen = batches.slice(at, end);
  return { ...packSeries(chosen), types, words: packWords(chosen, types, rows) };
}

function isPackable(batch: SeriesBatch | undefined): batch is SeriesBatch {
  if (batch === undefined || batch.times.length > ROWS_MAX) return false;
  return batch.columns.every(
    ({ type, valid }) => type !== 'string' && type !== 'boolean' && valid === undefined,
  );
}

function haveTypes({ columns }: SeriesBatch, types: readonly PackedType[]): boolean {
  return columns.length === types.length && columns.every(({ type }, i) => type === types[i]);
}

/** Lists each series once, even if it has several batches. */
function packSeries(batches: readonly SeriesBatch[]): Omit<PackedRows, 'types' | 'words'> {
  const series: (readonly [key: string, ...tags: string[]])[] = [];
  const seriesOf = new Uint32Array(batches.length);
  const rowCounts = new Uint32Array(batches.length);
  let key: string | undefined;
  for (const [i, batch] of batches.entries()) {
    if (batch.seriesKey !== key) {
      key = batch.seriesKey;
      series.push([key, ...[...batch.tags].flat()]);
    }
    seriesOf[i] = series.length - 1;
    rowCounts[i] = batch.times.length;
  }
  return { kind: 'packed-rows', series, seriesOf, rowCounts };
}

/** Writes column by column; each has the rows of all batches. */
function packWords(
  batches: readonly SeriesBatch[],
  types: readonly PackedType[],
  rows: number,
): Float64Array<ArrayBuffer> {
  const words = new Float64Array(rows * (types.length + 1));
  const integers = new BigInt64Array(words.buffer);
  const unsigneds = new BigUint64Array(words.buffer);
  let at = 0;
  for (const { times } of batches) {
    integers.set(times, at);
    at += times.length;
  }
  for (const i of types.keys()) {
    for (const { columns } of batches) {
      const column = columns[i]!;
      if (column.type === 'float') words.set(column.values, at);
      else if (column.type === 'integer') integers.set(column.values, at);
      else if (column.type === 'unsigned') unsigneds.set(column.values, at);
      at += column.type === 'string' ? 0 : column.values.length;
    }
  }
  return words;
}

/**
 * Restores the packed batches. Their arrays are views of the message; the values of a column are
 * adjacent across batches.
 */
function unpackRows(packed: PackedRows): SeriesBatch[] {
  const { series, seriesOf, rowCounts, types, words } = packed;
  const { buffer } = words;
  const columnBytes = words.byteLength / (types.length + 1);
  const tags = series.map(([, ...pairs]) => tagsOf(pairs));
  let at = words.byteOffset;
  return Array.from(rowCounts, (count, i): SeriesBatch => {
    const ofSeries = seriesOf[i]!;
    const times = new BigInt64Array(buffer, at, count);
    const columns = types.map((type, column) =>
      numberColumn(type, { buffer, at: at + (column + 1) * columnBytes, count }),
    );
    at += count * 8;
    return { seriesKey: series[ofSeries]![0], tags: tags[ofSeries]!, times, columns };
  });
}

function tagsOf(pairs: readonly string[]): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  for (let i = 0; i < pairs.length; i += 2) tags.set(pairs[i]!, pairs[i + 1]!);
  return tags;
}
