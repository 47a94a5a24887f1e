// How many values a tag key has: counted exactly while they are few, estimated in 4 KiB beyond.
// Kept per measurement and key, brought up to date when somebody asks by looking at the series that
// came since.
import { SeriesSet } from './series-set.ts';
import { HyperLogLog } from './hyperloglog.ts';
import type { MeasurementIndex, TagColumn } from './measurement-index.ts';

/**
 * A bitmap of so many symbols takes as much as the sketch, and up to 4 KiB for each when they
 * lie far apart.
 */
const EXACT_VALUES_MAX = 16_384;
/** Pages of the bitmap: symbols that lie far apart would take one each. */
const EXACT_PAGES_MAX = 64;
/** Series between two pauses. */
const STEP_SERIES = 1 << 15;

export type Cardinality = { readonly count: number; readonly isExact: boolean };

type Counter = {
  exact: SeriesSet | undefined;
  sketch: HyperLogLog | undefined;
  /** Ordinals below were looked at. */
  seen: number;
  /** As the measurement's, when counting began. */
  removals: number;
};

export class TagCardinalities {
  readonly #counters = new WeakMap<TagColumn, Counter>();

  /**
   * Values of series that are not deleted. Series whose first point is on its way to the log count
   * already, and the count is not called exact then. Pauses while series are looked at for the
   * first time, and again after some were deleted: a sketch forgets nothing.
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
    // Another may have got further meanwhile, or begun anew.
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
