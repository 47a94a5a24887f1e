// Merges neighbouring segments of a shard into one, without the rows that tombstones cover: series
// by series, short series in blocks.
import type { TimeRange } from '@tidemark/core';

import { mergeSources } from '../columns/merge-sources.ts';
import { concatRuns, mergeRuns } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { CHUNK_TEXT_BYTES, TEXT_PART_BYTES, textsOfRows } from '../columns/run-texts.ts';
import { firstNotBelow } from '../columns/search.ts';
import { chunkRowsMax } from '../segment/format.ts';
import type { ChunkMeta, SegmentField, SegmentMeasurement } from '../segment/format.ts';
import { holdsChunk } from '../segment/segment.ts';
import type { ReadAhead, Segment } from '../segment/segment.ts';
import { longRanges, MAX_SERIES } from '../segment/series-ranges.ts';
import type { SeriesRange } from '../segment/series-ranges.ts';
import type { SharedRows } from '../segment/shared-page.ts';
import { SegmentWriter } from '../segment/writer.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { sharedBlocks } from '../shard/shared-blocks.ts';
import { coverage, deletedRanges, withoutRanges } from '../shard/tombstone.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import type { SegmentTarget } from '../state/segment-files.ts';
import type { Pacer } from '../schedule/pacer.ts';

/**
 * Writes and syncs the merged segment; returns its size. The file is removed when anything fails.
 */
export async function mergeSegments(
  inputs: readonly Segment[],
  tombstones: readonly Tombstone[],
  options: { readonly target: SegmentTarget; readonly pacer: Pacer },
): Promise<number> {
  const { disk, path, shardId } = options.target;
  const writer = new SegmentWriter(disk, path, shardId);
  try {
    const ids = new Set(inputs.flatMap((s) => s.footer.measurements.map((m) => m.measurementId)));
    for (const id of [...ids].sort((a, b) => a - b)) {
      await mergeMeasurement(writer, { id, inputs, tombstones }, options.pacer);
    }
    return await writer.finish();
  } catch (error) {
    writer.abort();
    throw error;
  }
}

type MeasurementWork = {
  readonly id: number;
  readonly inputs: readonly Segment[];
  readonly tombstones: readonly Tombstone[];
};

type Input = {
  readonly segment: Segment;
  readonly measurement: SegmentMeasurement;
  /** Output field of each field here. */
  readonly fieldMap: readonly number[];
  readonly reader: ChunksInOrder;
};

/**
 * Of a series with few rows a read takes longer than all the rest; chunks lie in the order in which
 * they are merged.
 */
const READ_BYTES = 256 << 10;

/** Reads the bytes of chunks that are merged one after the other, many chunks at a time. */
class ChunksInOrder {
  readonly #segment: Segment;
  #held: ReadAhead | undefined;

  constructor(segment: Segment) {
    this.#segment = segment;
  }

  bytesOf(chunk: ChunkMeta): ReadAhead {
    if (this.#held === undefined || !holdsChunk(this.#held, chunk)) {
      this.#held = this.#segment.readOn(chunk, READ_BYTES);
    }
    return this.#held;
  }
}

async function mergeMeasurement(
  writer: SegmentWriter,
  work: MeasurementWork,
  pacer: Pacer,
): Promise<void> {
  const { fields, inputs } = mergeFields(work);
  if (inputs.length === 0) return;
  writer.beginMeasurement(work.id, fields);
  const all = { fields, inputs, work };
  let from = 0;
  for (const range of longRanges(inputs.map(({ measurement }) => measurement))) {
    await pacer.run(mergeShared(writer, { from, to: range.from - 1 }, all));
    for (const series of mergedIds(inputs, range)) {
      await pacer.run(mergeSeries(writer, series, all));
      writer.endSeries(series);
      await pacer.pause();
    }
    from = range.to + 1;
  }
  await pacer.run(mergeShared(writer, { from, to: MAX_SERIES }, all));
  writer.endMeasurement();
}

/** Series of the range, which share chunks in all inputs. */
function* mergeShared(
  writer: SegmentWriter,
  range: SeriesRange,
  { fields, inputs, work }: SeriesWork,
): Generator<undefined, void> {
  if (range.to < range.from) return;
  const sources = inputs.map(({ segment, measurement, fieldMap, reader }) =>
    sharedBlocks({
      segment,
      stored: measurement,
      range,
      tombstones: work.tombstones,
      wants: () => true,
      columns: (chunk) => {
        const columns: Run['columns'][number][] = fields.map(() => undefined);
        for (const meta of chunk.columns) {
          const column = segment.column(measurement, chunk, meta, reader.bytesOf(chunk));
          columns[fieldMap[meta.field]!] = column;
        }
        return columns;
      },
      bytesOf: (chunk) => reader.bytesOf(chunk),
    }),
  );
  for (const rows of mergeSources(sources)) {
    if (rows !== undefined) yield* writer.addSeriesRowsInSteps(rows);
    yield undefined;
  }
}

/**
 * Fields of all inputs; those of inputs from before a DROP MEASUREMENT are forgotten together with
 * their rows.
 */
function mergeFields(work: MeasurementWork): {
  readonly fields: readonly SegmentField[];
  readonly inputs: readonly Input[];
} {
  const freedAt = Math.max(
    0,
    ...work.tombstones
      .filter((t) => t.freesTypes && t.measurementId === work.id)
      .map((t) => t.sequence),
  );
  const fields: SegmentField[] = [];
  const places = new Map<string, number>();
  const inputs: Input[] = [];
  for (const segment of work.inputs) {
    const measurement = segment.measurement(work.id);
    if (measurement === undefined || segment.info.sequence < freedAt) continue;
    const fieldMap = measurement.fields.map((field) => {
      const known = places.get(field.name);
      if (known !== undefined) return known;
      places.set(field.name, fields.length);
      return fields.push(field) - 1;
    });
    inputs.push({ segment, measurement, fieldMap, reader: new ChunksInOrder(segment) });
  }
  return { fields, inputs };
}

/** Ids of all inputs within the range, ascending, each once. */
function* mergedIds(inputs: readonly Input[], { from, to }: SeriesRange): Iterable<SeriesId> {
  const lists = inputs.map(({ measurement: { series } }) =>
    series.subarray(firstNotBelow(series, from), firstNotBelow(series, to + 1)),
  );
  const next = lists.map(() => 0);
  for (;;) {
    let smallest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < lists.length; i++) {
      const id = lists[i]![next[i]!];
      if (id !== undefined && id < smallest) smallest = id;
    }
    if (smallest === Number.POSITIVE_INFINITY) return;
    for (let i = 0; i < lists.length; i++) if (lists[i]![next[i]!] === smallest) next[i]!++;
    yield smallest;
  }
}

type SeriesWork = {
  readonly fields: readonly SegmentField[];
  readonly inputs: readonly Input[];
  readonly work: MeasurementWork;
};

type Source = {
  readonly input: Input;
  readonly meta: ChunkMeta;
  readonly order: number;
  readonly isTouched: boolean;
  readonly load: () => Run;
};

/** Pauses behind each chunk that is read or written; a series may have any number. */
function* mergeSeries(
  writer: SegmentWriter,
  series: SeriesId,
  work: SeriesWork,
): Generator<undefined, void> {
  const sources = sourcesOf(series, work);
  sources.sort((a, b) => (a.meta.minTime < b.meta.minTime ? -1 : 1));
  // Rows that will become chunks together. Full chunks are copied without decoding.
  let pending: Run[] = [];
  let pendingRows = 0;
  let pendingTextBytes = 0;
  function* flush(): Generator<undefined, void> {
    if (pending.length > 0) yield* writer.addRunInSteps(joinRuns(pending));
    pending = [];
    pendingRows = 0;
    pendingTextBytes = 0;
  }
  for (let i = 0; i < sources.length;) {
    let end = i + 1;
    let maxTime = sources[i]!.meta.maxTime;
    while (end < sources.length && sources[end]!.meta.minTime <= maxTime) {
      const other = sources[end++]!.meta.maxTime;
      if (other > maxTime) maxTime = other;
    }
    const cluster = sources.slice(i, end).sort((a, b) => a.order - b.order);
    i = end;
    const [only] = cluster;
    const isAlone = cluster.length === 1 && only !== undefined && !only.isTouched;
    const rowsMax = chunkRowsMax(work.fields.length);
    const isFull = (rows: number, textBytes: number): boolean =>
      rows >= rowsMax / 2 || textBytes >= CHUNK_TEXT_BYTES / 2;
    const isPendingFull = pendingRows === 0 || isFull(pendingRows, pendingTextBytes);
    if (isAlone && isPendingFull && isFull(only.meta.rows, storedTextBytes(only))) {
      yield* flush();
      copyChunk(writer, only);
      yield undefined;
      continue;
    }
    const runs: Run[] = [];
    for (const source of cluster) {
      runs.push(source.load());
      yield undefined;
    }
    const run = mergeRuns(runs);
    if (run.times.length === 0) continue;
    pending.push(run);
    pendingRows += run.times.length;
    pendingTextBytes += textsOfRows(run, 0, run.times.length);
    if (pendingRows >= rowsMax || pendingTextBytes >= TEXT_PART_BYTES) yield* flush();
  }
  yield* flush();
}

/** Bytes of the texts of a chunk in its file: at most what they take in memory, mostly less. */
function storedTextBytes({ input, meta }: Source): number {
  let bytes = 0;
  for (const { field, valueBytes } of meta.columns) {
    if (input.measurement.fields[field]?.type === 'string') bytes += valueBytes;
  }
  return bytes;
}

function joinRuns(runs: readonly Run[]): Run {
  // They do not overlap and ascend, so merging is concatenation.
  return runs.length === 1 && runs[0] !== undefined ? runs[0] : concatRuns(runs);
}

function copyChunk(writer: SegmentWriter, { input, meta }: Source): void {
  const bytes = input.segment.rawChunk(meta);
  const columns = meta.columns.map((column) => ({
    ...column,
    field: input.fieldMap[column.field] ?? column.field,
  }));
  writer.addRawChunk({ meta: { ...meta, columns }, bytes });
}

function sourcesOf(series: SeriesId, { fields, inputs, work }: SeriesWork): Source[] {
  const sources: Source[] = [];
  inputs.forEach((input, order) => {
    const { segment, measurement, fieldMap, reader } = input;
    const deleted = deletedRanges(work.tombstones, {
      measurementId: work.id,
      series,
      sequence: segment.info.sequence,
    });
    const { chunks, shared } = segment.find(measurement, series);
    if (shared !== undefined) {
      const source = sharedSource({ input, order, fields }, shared, deleted);
      if (source !== undefined) sources.push(source);
    }
    for (const meta of chunks) {
      const covered = coverage(deleted, meta.minTime, meta.maxTime);
      if (covered === 'all') continue;
      const load = (): Run => {
        const bytes = reader.bytesOf(meta);
        const columns: Run['columns'][number][] = fields.map(() => undefined);
        for (const column of meta.columns) {
          columns[fieldMap[column.field]!] = segment.column(measurement, meta, column, bytes);
        }
        return withoutRanges({ times: segment.times(meta, bytes), columns }, deleted);
      };
      sources.push({ input, meta, order, isTouched: covered !== 'none', load });
    }
  });
  return sources;
}

/** Rows of a chunk that the series shares here; in another input it has chunks of its own. */
function sharedSource(
  place: {
    readonly input: Input;
    readonly order: number;
    readonly fields: readonly SegmentField[];
  },
  rows: SharedRows,
  deleted: readonly TimeRange[],
): Source | undefined {
  const { chunk, from, to } = rows;
  const { segment, measurement, fieldMap } = place.input;
  const columns: Run['columns'][number][] = place.fields.map(() => undefined);
  for (const meta of chunk.columns) {
    columns[fieldMap[meta.field]!] = segment.sharedColumn(measurement, rows, meta);
  }
  const shared = { times: segment.sharedTimes(chunk).subarray(from, to), columns };
  const run = withoutRanges(shared, deleted);
  const { times } = run;
  if (times.length === 0) return undefined;
  const bounds = { minTime: times[0]!, maxTime: times.at(-1)!, rows: times.length };
  // Its rows are part of a shared chunk, so it cannot be copied without decoding.
  return { ...place, meta: { ...chunk, ...bounds }, isTouched: true, load: () => run };
}
