// Reads the shared chunks of a measurement in one segment, one after another.
import type { Column } from '@tidemark/core';

import { firstBeyond } from '../columns/search.ts';
import type { ChunkMeta, SegmentMeasurement } from '../segment/format.ts';
import type { ReadAhead, Segment } from '../segment/segment.ts';
import { seriesOfRows } from '../segment/shared-page.ts';
import type { SharedPage } from '../segment/shared-page.ts';
import type { SeriesRange } from '../segment/series-ranges.ts';
import { rowsLeft } from './tombstone.ts';
import type { Tombstone } from './tombstone.ts';
import { filterSeriesRows, rowBehind, sliceSeriesRows } from '../columns/series-rows.ts';
import type { SeriesRows } from '../columns/series-rows.ts';

export type SharedBlocksSource = {
  readonly segment: Segment;
  readonly stored: SegmentMeasurement;
  readonly range: SeriesRange;
  readonly tombstones: readonly Tombstone[];
  /** Whether a page must be read. */
  readonly wants: (page: SharedPage) => boolean;
  /** Columns to read of a chunk; `undefined` for a column that is null in all rows. */
  readonly columns: (chunk: ChunkMeta) => readonly (Column | undefined)[];
  /** Bytes of a chunk that the caller has read ahead of time. */
  readonly bytesOf?: ((chunk: ChunkMeta) => ReadAhead) | undefined;
};

/** Rows of the series in the range that no tombstone covers. */
export function* sharedBlocks(source: SharedBlocksSource): Generator<SeriesRows | undefined, void> {
  const { segment, stored, range, tombstones } = source;
  const { pages, measurementId } = stored;
  const place = { measurementId, sequence: segment.info.sequence };
  const first = firstBeyond(pages.length, (i) => pages[i]!.firstSeries > range.from) - 1;
  for (let i = Math.max(0, first); i < pages.length; i++) {
    const meta = pages[i]!;
    if (meta.firstSeries > range.to) return;
    if (!meta.isShared) continue;
    const page = segment.sharedPage(stored, meta);
    if (!source.wants(page)) {
      yield undefined;
      continue;
    }
    const { chunk } = page;
    const rows: SeriesRows = {
      series: seriesOfRows(page.series, page.ends),
      times: segment.times(chunk, source.bytesOf?.(chunk)),
      columns: source.columns(chunk),
    };
    const within = sliceSeriesRows(
      rows,
      range.from === 0 ? 0 : rowBehind(rows, range.from - 1),
      rowBehind(rows, range.to),
    );
    const left = rowsLeft(tombstones, place, within);
    yield left === undefined ? within : filterSeriesRows(within, left);
  }
}
