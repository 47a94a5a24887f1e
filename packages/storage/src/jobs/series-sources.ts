// The data of one series in the segments being merged: chunks of its own, and rows of shared ones.
import type { Column, TimeRange } from '@tidemark/core';

import type { SeriesId } from '../columns/series-id.ts';
import type { Run } from '../columns/run.ts';
import type { ChunkMeta, ColumnMeta, SegmentField, SegmentMeasurement } from '../segment/format.ts';
import { holdsChunk } from '../segment/segment.ts';
import type { ReadAhead, Segment } from '../segment/segment.ts';
import type { SharedRows } from '../segment/shared-page.ts';
import type { SegmentWriter } from '../segment/writer.ts';
import { coverage, deletedRanges, withoutRanges } from '../shard/tombstone.ts';
import type { Tombstone } from '../shard/tombstone.ts';

export type MeasurementWork = {
  readonly id: number;
  readonly inputs: readonly Segment[];
  readonly tombstones: readonly Tombstone[];
};

export type Input = {
  readonly segment: Segment;
  readonly measurement: SegmentMeasurement;
  /** Output field of each field here. */
  readonly fieldMap: readonly number[];
  readonly reader: ChunksInOrder;
};

/**
 * For a series with few rows, reading takes longer than everything else; chunks are stored in the
 * order in which they are merged.
 */
const READ_BYTES = 256 << 10;

/** Reads the bytes of chunks that are merged one after the other, many chunks at a time. */
export class ChunksInOrder {
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

export type SeriesWork = {
  readonly fields: readonly SegmentField[];
  readonly inputs: readonly Input[];
  readonly work: MeasurementWork;
};

export type Source = {
  readonly input: Input;
  readonly meta: ChunkMeta;
  readonly order: number;
  readonly isTouched: boolean;
  readonly load: () => Run;
  /** As `load`, for a reader that takes one column at a time. */
  readonly single: () => OneColumn;
};

/** The rows of a source, and runs of them with the one column of an output field. */
export type OneColumn = {
  readonly times: BigInt64Array;
  readonly column: (field: number) => Run;
};

/**
 * Groups sources that overlap in time. Groups ascend in time; the sources of one are in the order
 * of their writes.
 */
export function* clusters(sources: Source[]): Generator<Source[]> {
  sources.sort((a, b) => (a.meta.minTime < b.meta.minTime ? -1 : 1));
  for (let i = 0; i < sources.length;) {
    let end = i + 1;
    let maxTime = sources[i]!.meta.maxTime;
    while (end < sources.length && sources[end]!.meta.minTime <= maxTime) {
      const other = sources[end++]!.meta.maxTime;
      if (other > maxTime) maxTime = other;
    }
    yield sources.slice(i, end).sort((a, b) => a.order - b.order);
    i = end;
  }
}

/** Bytes of the texts of a chunk in its file: at most what they take in memory, mostly less. */
export function storedTextBytes({ input, meta }: Source): number {
  let bytes = 0;
  for (const { field, valueBytes } of meta.columns) {
    if (input.measurement.fields[field]?.type === 'string') bytes += valueBytes;
  }
  return bytes;
}

/** Copies a chunk without decoding it. */
export function copyChunk(writer: SegmentWriter, { input, meta }: Source): void {
  const bytes = input.segment.rawChunk(meta);
  const columns = meta.columns.map((column) => ({
    ...column,
    field: input.fieldMap[column.field] ?? column.field,
  }));
  writer.addRawChunk({ meta: { ...meta, columns }, bytes });
}

export function sourcesOf(series: SeriesId, { fields, inputs, work }: SeriesWork): Source[] {
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
      const single = (): OneColumn => oneColumnOf(input, meta, deleted);
      sources.push({ input, meta, order, isTouched: covered !== 'none', load, single });
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
  return {
    ...place,
    meta: { ...chunk, ...bounds },
    isTouched: true,
    load: () => run,
    single: () => ({ times, column: (field) => ({ times, columns: [run.columns[field]] }) }),
  };
}

/** Reads the bytes of the chunk once, and keeps them. */
function oneColumnOf(input: Input, meta: ChunkMeta, deleted: readonly TimeRange[]): OneColumn {
  const { segment, measurement, fieldMap } = input;
  const bytes = segment.readOn(meta, 0);
  const all = segment.times(meta, bytes);
  const columns = new Map<number, ColumnMeta>();
  for (const column of meta.columns) columns.set(fieldMap[column.field]!, column);
  const runOf = (column: Column | undefined): Run =>
    withoutRanges({ times: all, columns: [column] }, deleted);
  return {
    times: runOf(undefined).times,
    column: (field) => {
      const found = columns.get(field);
      return runOf(found && segment.column(measurement, meta, found, bytes));
    },
  };
}
