// Number of values of a tag key: exact for few values, otherwise estimated with a sketch of 4 KiB.
// A counter per measurement and key is brought up to date when it is read, by visiting the series
// added since.
import { SeriesSet } from './series-set.ts';
import { HyperLogLog } from './hyperloglog.ts';
import type { MeasurementIndex, TagColumn } from './measurement-index.ts';

/**
 * From here on the sketch takes less memory than a bitmap of symbols, which has a page of 4 KiB
 * wherever symbols lie far apart.
 */
const EXACT_VALUES_MAX = 16_384;
/** Bounds the pages of that bitmap. */
const EXACT_PAGES_MAX = 64;
/** Series between two pauses. */
const STEP_SERIES = 1 << 15;

export type Cardinality = { readonly count: number; readonly isExact: boolean };

type Counter = {
  exact: SeriesSet | undefined;
  sketch: HyperLogLog | undefined;
  /** Series with smaller ordinals have been counted. */
  seen: number;
  /** `removals` of the measurement when counting began. */
  removals: number;
};

export class TagCardinalities {
  readonly #counters = new WeakMap<TagColumn, Counter>();

  /**
   * Counts values of series that are not deleted. Series of writes in progress are included, and
   * then the number is not called exact. Visits all series the first time, and again after deletes,
   * because values cannot be removed from a sketch.
   */
  *of(
    measurement: MeasurementIndex,
    column: TagColumn,
    isRemoved: (ordinal: number) => boolean,
  ): Generator<undefined, Cardinality> {
    const { removals } = measurement;
    let counter = this.#counters.get(column);
    if (counter === undefined || counter.removals !== removals) {
      counter = { exact: new SeriesSet(), sketch: undefined, seen: 0, removals };
    }
    const count = measurement.seriesCount;
    const { values } = column;
    const stored = Math.min(count, values.length);
    while (counter.seen < stored) {
      const end = Math.min(stored, counter.seen + STEP_SERIES);
      for (; counter.seen < end; counter.seen++) {
        const value = values[counter.seen]!;
        if (value === 0 || isRemoved(counter.seen)) continue;
        addTo(counter, value);
      }
      yield undefined;
    }
    // During a pause, another call may have counted further, or from the beginning.
    this.#counters.set(column, counter);
    const { exact, sketch } = counter;
    const { liveSeries, removedSeries, seriesCount } = measurement;
    const isSettled = liveSeries + removedSeries === seriesCount;
    if (exact !== undefined) return { count: exact.size, isExact: isSettled };
    return { count: sketch?.estimate() ?? 0, isExact: false };
  }
}

function addTo(counter: Counter, value: number): void {
  counter.sketch?.add(value);
  const { exact } = counter;
  if (exact?.add(value) !== true) return;
  if (exact.size <= EXACT_VALUES_MAX && exact.pageCount <= EXACT_PAGES_MAX) return;
  counter.sketch = new HyperLogLog();
  for (const known of exact) counter.sketch.add(known);
  counter.exact = undefined;
}
