// Series of a measurement that may have rows in a range of times, by what segments and memtables
// tell of many series at once.
import type { TimeRange } from '@tidemark/core';

import { overlaps, shardOverlaps } from '../columns/overlaps.ts';
import type { RowBlock } from '../columns/row-block.ts';
import { SeriesSet } from '../series/series-set.ts';
import type { ShardView } from '../state/snapshot.ts';
import type { SegmentMeasurement } from '../segment/format.ts';
import type { Segment } from '../segment/segment.ts';
import type { Selection } from './groups.ts';

/** Pages between two pauses. */
const STEP_PAGES = 256;
/** Looking at more rows in memory for each series takes longer than reading the series. */
const ROWS_PER_SERIES = 8;

type Where = Pick<Selection, 'shards' | 'measurement'>;

/**
 * A superset of the series with rows in the range; `undefined` when looking for them is not worth
 * it, where `count` series would be left out at best.
 */
export function* seriesWithin(
  { shards, measurement }: Where,
  range: TimeRange,
  count: number,
): Generator<undefined, SeriesSet | undefined> {
  const views = shards.filter(({ shard }) => shardOverlaps(shard.descriptor, range));
  const blocks = views.flatMap((view) => blocksWithin(view, measurement.id, range));
  const rows = blocks.reduce((sum, block) => sum + block.rows, 0);
  if (rows > count * ROWS_PER_SERIES) return undefined;
  const found = new SeriesSet();
  for (const { segments } of views) {
    for (const segment of segments) {
      const stored = segment.measurement(measurement.id);
      if (stored === undefined || !overlaps(segment.footer, range)) continue;
      yield* addSegment(found, { segment, stored }, range);
    }
  }
  for (const block of blocks) {
    addBlock(found, block, range);
    yield undefined;
  }
  return found;
}

function* addSegment(
  found: SeriesSet,
  { segment, stored }: { readonly segment: Segment; readonly stored: SegmentMeasurement },
  range: TimeRange,
): Generator<undefined> {
  const { pages, series } = stored;
  let at = 0;
  for (const [i, page] of pages.entries()) {
    if ((i + 1) % STEP_PAGES === 0) yield undefined;
    const isWithin = !page.isShared || overlaps(segment.sharedPage(stored, page).chunk, range);
    // Series with chunks of their own are few.
    const next = pages[i + 1]?.firstSeries ?? Number.POSITIVE_INFINITY;
    for (; at < series.length && series[at]! < next; at++) if (isWithin) found.add(series[at]!);
  }
}

function blocksWithin(
  { tables }: ShardView,
  measurementId: number,
  range: TimeRange,
): readonly RowBlock[] {
  return (tables.get(measurementId) ?? []).flatMap(({ table }) =>
    table.blocks.filter(({ timeBounds: { min, max } }) =>
      overlaps({ minTime: min, maxTime: max }, range),
    ),
  );
}

function addBlock(found: SeriesSet, block: RowBlock, range: TimeRange): void {
  for (let row = 0; row < block.rows; row++) {
    const time = block.times[row]!;
    if (time >= range.start && time <= range.end) found.add(block.series[row]!);
  }
}
