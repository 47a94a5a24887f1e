// Rows of many series out of several sources, each of which has them by series, in blocks.
import { mergeSeriesRows, rowBehind, sliceSeriesRows } from './series-rows.ts';
import type { SeriesRows } from './series-rows.ts';

/**
 * Blocks of rows by series; a series lies in one block, and all blocks ascend. `undefined` where
 * others may have a turn.
 */
export type SeriesBlocks = Iterator<SeriesRows | undefined, void>;

/** The rows of all sources, oldest write first, as one: see `mergeSeriesRows`. */
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
