// What the engine keeps per database: the series index and how much of it is in the log.
import { SeriesIndex } from '../series/series-index.ts';
import type { SeriesId } from '../series/series-index.ts';
import type { DatabaseRef, IndexAdditions, NewSeries } from '../wal/wal-record.ts';
import { TagValueCounter } from '../write/tag-value-counter.ts';

export class Database {
  readonly name: string;
  /** Tells this database from an earlier one of the same name. */
  readonly instance: number;
  readonly index: SeriesIndex;
  readonly tagValues = new TagValueCounter();
  /** New series that were let in under a limit and are not applied yet. */
  readonly admitted = new Set<SeriesId>();
  /** Measurements and series below these ids are in the log (or in the index files). */
  #loggedMeasurements = 0;
  #loggedSeries = 0;

  constructor(name: string, instance: number) {
    this.name = name;
    this.instance = instance;
    this.index = new SeriesIndex(name);
  }

  get ref(): DatabaseRef {
    return { name: this.name, instance: this.instance };
  }

  /** What a record has to bring so that its ids can be resolved, and marks it as logged. */
  takeAdditions(): IndexAdditions {
    const { index } = this;
    const measurements: string[] = [];
    for (let id = this.#loggedMeasurements; id < index.measurements.length; id++) {
      measurements.push(index.measurements[id]!.name);
    }
    const series: NewSeries[] = [];
    for (let id = this.#loggedSeries; id < index.seriesCount; id++) {
      series.push({ measurementId: index.measurementOf(id).id, tags: index.tags(id) });
    }
    const additions: IndexAdditions = {
      firstMeasurementId: this.#loggedMeasurements,
      measurements,
      firstSeriesId: this.#loggedSeries,
      series,
    };
    this.#loggedMeasurements = index.measurements.length;
    this.#loggedSeries = index.seriesCount;
    return additions;
  }

  /** Undoes `takeAdditions` of a record that could not be logged; later records bring its entries again. */
  returnAdditions(additions: IndexAdditions): void {
    this.#loggedMeasurements = Math.min(this.#loggedMeasurements, additions.firstMeasurementId);
    this.#loggedSeries = Math.min(this.#loggedSeries, additions.firstSeriesId);
  }

  /** Everything that is in the index now came from disk. */
  markLogged(): void {
    this.#loggedMeasurements = this.index.measurements.length;
    this.#loggedSeries = this.index.seriesCount;
  }
}
