// Ranges of series that have chunks of their own, and the gaps between, whose series share chunks.
import { firstBeyond } from '../columns/search.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { SegmentMeasurement } from './format.ts';

/** Series [from, to], ends included. */
export type SeriesRange = { readonly from: SeriesId; readonly to: SeriesId };

/**
 * Ranges of the series that have chunks of their own in one of the segments: ascending, not
 * touching each other.
 */
export function longRanges(segments: readonly SegmentMeasurement[]): readonly SeriesRange[] {
  const ranges: { from: SeriesId; to: SeriesId }[] = [];
  for (const { pages, series } of segments) {
    pages.forEach(({ isShared, firstSeries }, i) => {
      if (isShared) return;
      const next = pages[i + 1]?.firstSeries;
      const to = next === undefined ? series.at(-1)! : next - 1;
      const last = ranges.at(-1);
      if (last?.to === firstSeries - 1) last.to = to;
      else ranges.push({ from: firstSeries, to });
    });
  }
  return segments.length < 2 ? ranges : union(ranges);
}

/** The gaps between the ranges, before the first one and after the last. */
export function gapsOf(ranges: readonly SeriesRange[]): readonly SeriesRange[] {
  const gaps: SeriesRange[] = [];
  let from = 0;
  for (const range of ranges) {
    if (range.from > from) gaps.push({ from, to: range.from - 1 });
    from = range.to + 1;
  }
  gaps.push({ from, to: MAX_SERIES });
  return gaps;
}

/** Whether the series is in one of the ranges. */
export function isInRanges(ranges: readonly SeriesRange[], series: SeriesId): boolean {
  const range = ranges[firstBeyond(ranges.length, (i) => ranges[i]!.from > series) - 1];
  return range !== undefined && series <= range.to;
}

export const MAX_SERIES = 0xffffffff;

export const ALL_SERIES: SeriesRange = { from: 0, to: MAX_SERIES };

function union(ranges: { from: SeriesId; to: SeriesId }[]): readonly SeriesRange[] {
  const merged: { from: SeriesId; to: SeriesId }[] = [];
  for (const { from, to } of ranges.sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last === undefined || from > last.to + 1) merged.push({ from, to });
    else if (to > last.to) last.to = to;
  }
  return merged;
}
