// Merges rows of many series from several sources. Each source yields blocks of rows, by series.
import { mergeSeriesRows, rowBehind, sliceSeriesRows } from './series-rows.ts';
import type { SeriesRows } from './series-rows.ts';

/**
 * Blocks of rows in ascending order of series; all rows of a series are in one block. `undefined`
 * marks a point where other work may run.
 */
export type SeriesBlocks = Iterator<SeriesRows | undefined, void>;

/** Merges sources, oldest first, into one sequence of blocks; duplicates as `mergeSeriesRows`. */
export function* mergeSources(
  sources: readonly SeriesBlocks[],
): Generator<SeriesRows | undefined, void> {
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
    yield mergeSeriesRows(parts);
  }
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
