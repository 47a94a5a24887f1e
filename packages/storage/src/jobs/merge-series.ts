// Merges the chunks of a series. Full chunks that overlap no other are copied without decoding;
// rows of the others are collected until they fill a chunk. Where a series has so many fields that
// the columns of a chunk may not fit into memory together, they are read, merged and written one by
// one.
import { overlapping } from '../columns/overlaps.ts';
import type { TimeSpan } from '../columns/overlaps.ts';
import { concatRuns, mergeRuns, takeRows } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { CHUNK_TEXT_BYTES, TEXT_PART_BYTES, textsOfRows } from '../columns/run-texts.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { CHUNK_VALUES_MAX, MAX_CHUNK_ROWS, WIDE_FIELDS } from '../segment/format.ts';
import type { SegmentField } from '../segment/format.ts';
import type { SegmentWriter } from '../segment/writer.ts';
import { storedRowsOf } from '../shard/stored-rows.ts';
import type { StoredRows } from '../shard/stored-rows.ts';
import type { MergeInput, MergeInputs } from './merge-input.ts';
import { writeRuns } from './packed-runs.ts';
import type { PackedRun } from './packed-runs.ts';
import { writeWideRows } from './wide-series.ts';
import type { WideRows } from './wide-series.ts';

type Source = {
  readonly input: MergeInput;
  readonly rows: StoredRows;
  readonly span: TimeSpan;
};
/** Of values that fit into memory whatever their number, that number is 0. */
type Sizes = { readonly rows: number; readonly values: number; readonly textBytes: number };
const NO_SIZES: Sizes = { rows: 0, values: 0, textBytes: 0 };

/** Rows that will become chunks together. They are pulled in pauses. */
interface PendingRows {
  readonly sizes: Sizes;
  /** Adds sources that overlap one another, and come behind all rows so far. */
  add(group: readonly Source[]): Generator<undefined, void>;
  /** Writes all rows, and forgets them. */
  write(writer: SegmentWriter): Generator<undefined, void>;
}

/** Pauses behind each chunk that is read or written; a series may have any number. */
export function* mergeSeries(
  writer: SegmentWriter,
  series: SeriesId,
  { fields, inputs }: MergeInputs,
): Generator<undefined, void> {
  const isWide = fields.length > WIDE_FIELDS;
  const pending = isWide ? new PendingColumns(fields) : new PendingRuns();
  for (const group of overlapping(sourcesOf(series, inputs))) {
    const [{ input, rows }] = group as [Source];
    const isAlone = group.length === 1 && rows.isWholeChunk && isFull(sizesOf(group, isWide));
    if (isAlone && (pending.sizes.rows === 0 || isFull(pending.sizes))) {
      yield* pending.write(writer);
      input.copyTo(writer, rows.chunk);
      yield undefined;
      continue;
    }
    yield* pending.add(group);
    if (areEnough(pending.sizes)) yield* pending.write(writer);
  }
  yield* pending.write(writer);
}

function sourcesOf(series: SeriesId, inputs: readonly MergeInput[]): Source[] {
  return inputs.flatMap((input) =>
    storedRowsOf(input.place, series).map((rows) => ({ input, rows, span: rows.span() })),
  );
}

function sizesOf(group: readonly Source[], isWide: boolean): Sizes {
  let sizes = NO_SIZES;
  for (const { input, rows } of group) {
    let values = 0;
    if (isWide) for (const { count } of rows.chunk.columns) values += count;
    const textBytes = input.storedTextBytes(rows.chunk);
    sizes = sumOf(sizes, { rows: rows.count, values, textBytes });
  }
  return sizes;
}

function sumOf(a: Sizes, b: Sizes): Sizes {
  const textBytes = a.textBytes + b.textBytes;
  return { rows: a.rows + b.rows, values: a.values + b.values, textBytes };
}

function isFull({ rows, values, textBytes }: Sizes): boolean {
  if (rows >= MAX_CHUNK_ROWS / 2 || values >= CHUNK_VALUES_MAX / 2) return true;
  return textBytes >= CHUNK_TEXT_BYTES / 2;
}

function areEnough({ rows, values, textBytes }: Sizes): boolean {
  return rows >= MAX_CHUNK_ROWS || values >= CHUNK_VALUES_MAX || textBytes >= TEXT_PART_BYTES;
}

/** Rows that are merged as they come, and whole chunks that overlap no other. */
class PendingRuns implements PendingRows {
  sizes = NO_SIZES;
  #runs: PackedRun[] = [];

  *add(group: readonly Source[]): Generator<undefined, void> {
    const [{ input, rows }] = group as [Source];
    if (group.length === 1 && rows.isWholeChunk) {
      this.#push(input.loadPacked(rows));
      yield undefined;
      return;
    }
    const runs: Run[] = [];
    for (const one of group) {
      runs.push(one.input.load(one.rows));
      yield undefined;
    }
    const run = mergeRuns(runs);
    const { length } = run.times;
    if (length === 0) return;
    this.#push({ ...run, packed: new Map(), textBytes: textsOfRows(run, 0, length) });
  }

  #push(run: PackedRun): void {
    this.#runs.push(run);
    const { textBytes } = run;
    this.sizes = sumOf(this.sizes, { rows: run.times.length, values: 0, textBytes });
  }

  *write(writer: SegmentWriter): Generator<undefined, void> {
    const runs = this.#runs;
    this.#runs = [];
    this.sizes = NO_SIZES;
    // They do not overlap and ascend, so merging is concatenation.
    if (runs.length > 0) yield* writeRuns(writer, runs);
  }
}

/** Chunks whose columns are merged one by one when they are written. */
class PendingColumns implements PendingRows {
  sizes = NO_SIZES;
  readonly #fields: readonly SegmentField[];
  #sources: Source[] = [];

  constructor(fields: readonly SegmentField[]) {
    this.#fields = fields;
  }

  // oxlint-disable-next-line require-yield
  *add(group: readonly Source[]): Generator<undefined, void> {
    this.#sources.push(...group);
    this.sizes = sumOf(this.sizes, sizesOf(group, true));
  }

  *write(writer: SegmentWriter): Generator<undefined, void> {
    const sources = this.#sources;
    const { values } = this.sizes;
    this.#sources = [];
    this.sizes = NO_SIZES;
    if (sources.length > 0) yield* writeWideRows(writer, wideRowsOf(sources, values), this.#fields);
  }
}

/** Rows of sources of a series, those of earlier writes before later ones of the same time. */
function wideRowsOf(sources: readonly Source[], valueCount: number): WideRows {
  const parts = sources.map(({ input, rows }) => input.single(rows));
  return {
    times: concatRuns(parts.map(({ times }) => ({ times, columns: [] }))).times,
    valueCount,
    pick: (rows) => (field) => {
      const runs = parts.map((part) => part.column(field));
      if (runs.every(({ columns: [column] }) => column === undefined)) return undefined;
      return takeRows(concatRuns(runs), rows).columns[0];
    },
  };
}
