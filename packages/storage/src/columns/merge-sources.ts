// Merges rows of many series from several sources. Each source yields blocks of rows, by series.
import { overlapping } from './overlaps.ts';
import { timeBoundsOf } from './row-order.ts';
import { mergeSeriesRows, rowBehind, sliceSeriesRows } from './series-rows.ts';
import type { SeriesRows } from './series-rows.ts';

/**
 * Blocks of rows that ascend strictly by series and time; all rows of a series are in one block.
 * `undefined` marks a point where other work may run.
 */
export type SeriesBlocks = Iterator<SeriesRows | undefined, void>;

/**
 * Merges sources, oldest first, into one sequence of blocks, in which all rows of a series are
 * again in one block; duplicates as `mergeSeriesRows`.
 */
export function* mergeSources(
  sources: readonly SeriesBlocks[],
): Generator<SeriesRows | undefined, void> {
  for (const parts of alignSources(sources)) yield parts && mergeParts(parts);
}

/**
 * As `mergeSources`, but rows of a series may come in several blocks: rows of sources that have no
 * times in common need not be merged.
 */
export function* mergeOverlapping(
  sources: readonly SeriesBlocks[],
): Generator<SeriesRows | undefined, void> {
  for (const parts of alignSources(sources)) {
    if (parts === undefined) yield undefined;
    else for (const overlapping of apartInTime(parts)) yield mergeParts(overlapping);
  }
}

/**
 * Yields the rows of each source in the next range of series. Sources without rows there are left
 * out.
 */
function* alignSources(
  sources: readonly SeriesBlocks[],
): Generator<readonly SeriesRows[] | undefined, void> {
  const heads: (SeriesRows | undefined)[] = [];
  for (const source of sources) heads.push(yield* next(source));
  for (;;) {
    let upTo: number | undefined;
    for (const head of heads) {
      const last = head?.series.at(-1);
      if (last !== undefined && (upTo === undefined || last < upTo)) upTo = last;
    }
    if (upTo === undefined) return;
    const parts: SeriesRows[] = [];
    for (let i = 0; i < heads.length; i++) {
      const head = heads[i];
      const end = head === undefined ? 0 : rowBehind(head, upTo);
      if (head === undefined || end === 0) continue;
      parts.push(sliceSeriesRows(head, 0, end));
      const { length } = head.series;
      heads[i] = end === length ? yield* next(sources[i]!) : sliceSeriesRows(head, end, length);
    }
    yield parts;
  }
}

/** Rows of one source are in order already, without duplicates. */
function mergeParts(parts: readonly SeriesRows[]): SeriesRows {
  return parts.length === 1 ? parts[0]! : mergeSeriesRows(parts);
}

/** As `overlapping`, for rows of several series each. */
function apartInTime(parts: readonly SeriesRows[]): readonly (readonly SeriesRows[])[] {
  if (parts.length === 1) return [parts];
  const spans = parts.map((rows) => {
    const { min: minTime, max: maxTime } = timeBoundsOf(rows.times);
    return { rows, span: { minTime, maxTime } };
  });
  return overlapping(spans).map((group) => group.map(({ rows }) => rows));
}

/** The next block with rows; `undefined` at the end. */
function* next(source: SeriesBlocks): Generator<undefined, SeriesRows | undefined> {
  for (;;) {
    const { done, value } = source.next();
    if (done === true) return undefined;
    if (value !== undefined && value.series.length > 0) return value;
    yield undefined;
  }
}
