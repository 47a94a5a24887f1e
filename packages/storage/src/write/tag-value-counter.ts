// Counts distinct values per measurement and tag key, of series that are not deleted. Only for
// measurements that are written under a limit of values.
import type { SeriesIndex } from '../series/series-index.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';

type Counted = {
  readonly values: Set<number>;
  seenSeries: number;
  /** `removals` of the measurement when counting began. */
  readonly removals: number;
};

export class TagValueCounter {
  readonly #index: SeriesIndex;
  readonly #counted = new Map<MeasurementIndex, Map<string, Counted>>();

  constructor(index: SeriesIndex) {
    this.#index = index;
  }

  /** Whether some tag of some measurement has `limit` values or more. */
  hasFull(limit: number): boolean {
    for (const measurement of this.#index.measurements) {
      // A tag cannot have more values than there are series.
      if (measurement.seriesCount - measurement.removedSeries < limit) continue;
      for (const { key } of measurement.sortedTagColumns()) {
        if (this.valuesOf(measurement, key).size >= limit) return true;
      }
    }
    return false;
  }

  /**
   * Symbols of the values that the measurement's series have for the key. Valid until series are
   * added.
   */
  valuesOf(measurement: MeasurementIndex, key: string): ReadonlySet<number> {
    let keys = this.#counted.get(measurement);
    if (keys === undefined) {
      keys = new Map();
      this.#counted.set(measurement, keys);
    }
    const { removals } = measurement;
    let counted = keys.get(key);
    if (counted === undefined || counted.removals !== removals) {
      counted = { values: new Set(), seenSeries: 0, removals };
      keys.set(key, counted);
    }
    const column = measurement.column(key)?.values;
    if (column !== undefined) {
      const end = Math.min(measurement.seriesCount, column.length);
      for (let i = counted.seenSeries; i < end; i++) {
        const stored = column[i]!;
        if (stored === 0 || this.#index.isDeleted(measurement.seriesId(i))) continue;
        counted.values.add(stored - 1);
      }
    }
    counted.seenSeries = measurement.seriesCount;
    return counted.values;
  }
}
