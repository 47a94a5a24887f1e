// Merges neighbouring segments of a shard into one, without the rows that tombstones cover: series
// by series, short series in blocks.
import { mergeSources } from '../columns/merge-sources.ts';
import { concatRuns, mergeRuns } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { CHUNK_TEXT_BYTES, TEXT_PART_BYTES, textsOfRows } from '../columns/run-texts.ts';
import { firstNotBelow } from '../columns/search.ts';
import { MAX_CHUNK_ROWS, WIDE_FIELDS } from '../segment/format.ts';
import type { SegmentField } from '../segment/format.ts';
import type { Segment } from '../segment/segment.ts';
import { longRanges, MAX_SERIES } from '../segment/series-ranges.ts';
import type { SeriesRange } from '../segment/series-ranges.ts';
import { SegmentWriter } from '../segment/writer.ts';
import type { SeriesId } from '../columns/series-id.ts';
import { sharedBlocks } from '../shard/shared-blocks.ts';
import { tombstonesOf } from '../shard/tombstone.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import type { SegmentTarget } from '../state/segment-files.ts';
import type { Pacer } from '../schedule/pacer.ts';
import { mergeWide } from './merge-wide.ts';
import {
  ChunksInOrder,
  clusters,
  copyChunk,
  sourcesOf,
  storedTextBytes,
} from './series-sources.ts';
import type { Input, MeasurementWork, SeriesWork } from './series-sources.ts';

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
      const isWide = fields.length > WIDE_FIELDS;
      await pacer.run(isWide ? mergeWide(writer, series, all) : mergeSeries(writer, series, all));
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
    ...tombstonesOf(work.tombstones, work.id)
      .filter((t) => t.freesTypes)
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

/** Pauses behind each chunk that is read or written; a series may have any number. */
function* mergeSeries(
  writer: SegmentWriter,
  series: SeriesId,
  work: SeriesWork,
): Generator<undefined, void> {
  const sources = sourcesOf(series, work);
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
  for (const cluster of clusters(sources)) {
    const [only] = cluster;
    const isAlone = cluster.length === 1 && only !== undefined && !only.isTouched;
    const isFull = (rows: number, textBytes: number): boolean =>
      rows >= MAX_CHUNK_ROWS / 2 || textBytes >= CHUNK_TEXT_BYTES / 2;
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
    if (pendingRows >= MAX_CHUNK_ROWS || pendingTextBytes >= TEXT_PART_BYTES) yield* flush();
  }
  yield* flush();
}

function joinRuns(runs: readonly Run[]): Run {
  // They do not overlap and ascend, so merging is concatenation.
  return runs.length === 1 && runs[0] !== undefined ? runs[0] : concatRuns(runs);
}
