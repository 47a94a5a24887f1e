// Merges the chunks of a series with so many fields that the columns of a chunk may not fit into
// memory together: they are read, merged and written one by one.
import { concatRuns, takeRows } from '../columns/run.ts';
import { CHUNK_TEXT_BYTES, TEXT_PART_BYTES } from '../columns/run-texts.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { CHUNK_VALUES_MAX, MAX_CHUNK_ROWS } from '../segment/format.ts';
import type { SegmentWriter } from '../segment/writer.ts';
import { clusters, copyChunk, sourcesOf, storedTextBytes } from './series-sources.ts';
import type { SeriesWork, Source } from './series-sources.ts';
import { writeWideRows } from './wide-series.ts';
import type { WideRows } from './wide-series.ts';

/** Full chunks are copied without decoding. Pauses after every few columns. */
export function* mergeWide(
  writer: SegmentWriter,
  series: SeriesId,
  work: SeriesWork,
): Generator<undefined, void> {
  let pending: Source[] = [];
  let sizes = NO_SIZES;
  function* flush(): Generator<undefined, void> {
    if (pending.length > 0) yield* writeWideRows(writer, wideRowsOf(pending), work.fields);
    pending = [];
    sizes = NO_SIZES;
  }
  for (const cluster of clusters(sourcesOf(series, work))) {
    const [only] = cluster;
    const added = cluster.map(sizesOf).reduce(addSizes);
    const isAlone = cluster.length === 1 && only !== undefined && !only.isTouched;
    if (isAlone && isFull(added) && (pending.length === 0 || isFull(sizes))) {
      yield* flush();
      copyChunk(writer, only);
      yield undefined;
      continue;
    }
    pending.push(...cluster);
    sizes = addSizes(sizes, added);
    if (sizes.rows >= MAX_CHUNK_ROWS || sizes.values >= CHUNK_VALUES_MAX) yield* flush();
    else if (sizes.textBytes >= TEXT_PART_BYTES) yield* flush();
  }
  yield* flush();
}

type Sizes = { readonly rows: number; readonly values: number; readonly textBytes: number };
const NO_SIZES: Sizes = { rows: 0, values: 0, textBytes: 0 };

function sizesOf(source: Source): Sizes {
  const { rows, columns } = source.meta;
  const values = columns.reduce((sum, { count }) => sum + count, 0);
  return { rows, values, textBytes: storedTextBytes(source) };
}

function addSizes(a: Sizes, b: Sizes): Sizes {
  const textBytes = a.textBytes + b.textBytes;
  return { rows: a.rows + b.rows, values: a.values + b.values, textBytes };
}

function isFull({ rows, values, textBytes }: Sizes): boolean {
  if (rows >= MAX_CHUNK_ROWS / 2 || values >= CHUNK_VALUES_MAX / 2) return true;
  return textBytes >= CHUNK_TEXT_BYTES / 2;
}

/** Rows of sources of a series, those of earlier writes before later ones of the same time. */
function wideRowsOf(sources: readonly Source[]): WideRows {
  const parts = sources.map((source) => source.single());
  return {
    times: concatRuns(parts.map(({ times }) => ({ times, columns: [] }))).times,
    valueCount: sources.reduce((sum, source) => sum + sizesOf(source).values, 0),
    pick: (rows) => (field) => {
      const runs = parts.map((part) => part.column(field));
      if (runs.every(({ columns: [column] }) => column === undefined)) return undefined;
      return takeRows(concatRuns(runs), rows).columns[0];
    },
  };
}
