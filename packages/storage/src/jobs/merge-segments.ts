// Neighbouring segments of a shard to one, series by series, without the rows that tombstones
// cover.
import { concatRuns, mergeRuns } from '../columns/run.ts';
import type { Run } from '../columns/run.ts';
import { chunkRowsMax } from '../segment/format.ts';
import type { ChunkMeta, SegmentField, SegmentMeasurement } from '../segment/format.ts';
import { holdsChunk } from '../segment/segment.ts';
import type { ReadAhead, Segment } from '../segment/segment.ts';
import { SegmentWriter } from '../segment/writer.ts';
import type { SeriesId } from '../columns/series-id.ts';
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

/** Bytes of chunks that are read one after the other. */
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
  for (const series of mergedIds(inputs)) {
    await pacer.run(mergeSeries(writer, series, { fields, inputs, work }));
    writer.endSeries(series);
    await pacer.pause();
  }
  writer.endMeasurement();
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

/** Ids of all inputs, ascending, each once. */
function* mergedIds(inputs: readonly Input[]): Iterable<SeriesId> {
  const lists = inputs.map(({ measurement }) => measurement.series);
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

/** Pauses behind each chunk, of which a series may have any number. */
function* mergeSeries(
  writer: SegmentWriter,
  series: SeriesId,
  work: SeriesWork,
): Generator<undefined, void> {
  const sources = sourcesOf(series, work);
  sources.sort((a, b) => (a.meta.minTime < b.meta.minTime ? -1 : 1));
  // Rows that wait to become chunks together; chunks that are full already are copied as they are.
  let pending: Run[] = [];
  let pendingRows = 0;
  function* flush(): Generator<undefined, void> {
    if (pending.length > 0) yield* writer.addRunInSteps(joinRuns(pending));
    pending = [];
    pendingRows = 0;
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
    const isFull = (rows: number): boolean => rows >= rowsMax / 2;
    if (isAlone && isFull(only.meta.rows) && (pendingRows === 0 || isFull(pendingRows))) {
      yield* flush();
      copyChunk(writer, only);
      yield undefined;
      continue;
    }
    const run = mergeRuns(cluster.map((source) => source.load()));
    if (run.times.length === 0) continue;
    pending.push(run);
    pendingRows += run.times.length;
    if (pendingRows >= rowsMax) yield* flush();
  }
  yield* flush();
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
    for (const meta of segment.chunks(measurement, series)) {
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
