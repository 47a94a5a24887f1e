// The series of a group that have been sent, where series come in the order of some tags.
import type { SeriesId } from '../columns/series-id.ts';
import type { Selection } from './groups.ts';

export class SentTies {
  readonly #index: Selection['database']['index'];
  readonly #columns: readonly (ArrayLike<number> | undefined)[];
  #last: SeriesId | undefined;

  constructor({ database, measurement }: Selection, tags: readonly string[]) {
    this.#index = database.index;
    this.#columns = tags.map((name) => measurement.column(name)?.values);
  }

  /** Rows of the series have been sent. */
  add(series: SeriesId): void {
    this.#last = series;
  }

  /**
   * Whether rows of the series come behind those of equal time that have been sent: they do unless
   * the last series that was sent has the same tags.
   */
  areBehind(series: SeriesId): boolean {
    if (this.#last === undefined) return false;
    const last = this.#index.ordinalOf(this.#last);
    const ordinal = this.#index.ordinalOf(series);
    return ordinal !== last && this.#columns.some((values) => values?.[ordinal] !== values?.[last]);
  }
}
