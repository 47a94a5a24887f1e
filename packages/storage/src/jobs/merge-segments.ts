// Merges neighbouring segments of a shard into one, without the rows that tombstones cover: series
// by series, short series in blocks.
import { mergeSources } from '../columns/merge-sources.ts';
import { firstNotBelow } from '../columns/search.ts';
import type { Segment } from '../segment/segment.ts';
import { longRanges, MAX_SERIES } from '../segment/series-ranges.ts';
import type { SeriesRange } from '../segment/series-ranges.ts';
import { SegmentWriter } from '../segment/writer.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { Tombstone } from '../shard/tombstone.ts';
import type { SegmentTarget } from '../state/segment-files.ts';
import type { Pacer } from '../schedule/pacer.ts';
import { mergeInputs } from './merge-input.ts';
import type { MergeInput, MergeInputs } from './merge-input.ts';
import { mergeSeries } from './merge-series.ts';

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
      await mergeMeasurement(writer, id, mergeInputs(inputs, tombstones, id), options.pacer);
    }
    return await writer.finish();
  } catch (error) {
    writer.abort();
    throw error;
  }
}

async function mergeMeasurement(
  writer: SegmentWriter,
  id: number,
  { inputs, fields }: MergeInputs,
  pacer: Pacer,
): Promise<void> {
  if (inputs.length === 0) return;
  writer.beginMeasurement(id, fields);
  let from = 0;
  for (const range of longRanges(inputs.map(({ place }) => place.stored))) {
    await pacer.run(mergeShort(writer, { from, to: range.from - 1 }, inputs));
    for (const series of mergedIds(inputs, range)) {
      await pacer.run(mergeSeries(writer, series, { inputs, fields }));
      writer.endSeries(series);
      await pacer.pause();
    }
    from = range.to + 1;
  }
  await pacer.run(mergeShort(writer, { from, to: MAX_SERIES }, inputs));
  writer.endMeasurement();
}

/** Series of the range, which share chunks in all inputs. */
function* mergeShort(
  writer: SegmentWriter,
  range: SeriesRange,
  inputs: readonly MergeInput[],
): Generator<undefined, void> {
  if (range.to < range.from) return;
  for (const rows of mergeSources(inputs.map((input) => input.blocks(range)))) {
    if (rows !== undefined) yield* writer.addSeriesRowsInSteps(rows);
    yield undefined;
  }
}

/** Ids of all inputs within the range, ascending, each once. */
function* mergedIds(inputs: readonly MergeInput[], { from, to }: SeriesRange): Iterable<SeriesId> {
  const lists = inputs.map(
    ({
      place: {
        stored: { series },
      },
    }) => series.subarray(firstNotBelow(series, from), firstNotBelow(series, to + 1)),
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
