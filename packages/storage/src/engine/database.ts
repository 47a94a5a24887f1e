// What the engine keeps per database: the series index and how much of it is in the log.
import type { Disk } from '../disk/disk.ts';
import { readCheckpoint, writeCheckpoint } from '../series/checkpoint.ts';
import type { PostingsCache } from '../series/postings-cache.ts';
import { SeriesIndex } from '../series/series-index.ts';
import type { SeriesId } from '../series/series-index.ts';
import type { DatabaseRef, IndexAdditions } from '../wal/wal-record.ts';
import { Ingest } from '../write/ingest.ts';
import type { IngestSettings } from '../write/ingest.ts';
import { TagValueCounter } from '../write/tag-value-counter.ts';

/** Opening builds about a million series per second: these are done in a few milliseconds. */
const CLOSING_SERIES_MIN = 2_000;
/** Beyond half of what the last checkpoint held, so that all of them together cost as much as three times the index. */
const RUNNING_SERIES_MIN = 50_000;

/**
 * Encoded at once: a million new series would take 100 MiB in linear memory and as much outside of it. Deflating so many
 * for a backup takes some milliseconds.
 */
const PORTION_SERIES = 1 << 13;

/** Numbers of entries of an index. */
type IndexEnd = { readonly measurements: number; readonly series: number };

export type DatabaseSettings = IngestSettings & { readonly postings: PostingsCache };

export class Database {
  readonly name: string;
  /** Tells this database from an earlier one of the same name. */
  readonly instance: number;
  readonly index: SeriesIndex;
  readonly ingest: Ingest;
  readonly tagValues = new TagValueCounter();
  /** New series that were let in under a limit and are not applied yet. */
  readonly admitted = new Set<SeriesId>();
  /** Measurements and series below these ids are in the log (or in the index files). */
  #loggedMeasurements = 0;
  #loggedSeries = 0;
  #persistedMeasurements = 0;
  #persistedSeries = 0;
  #writesBegun = 0;
  #writesEnded = 0;
  readonly #dead: { readonly ids: readonly SeriesId[]; readonly after: number }[] = [];
  /** Series that the checkpoint holds. */
  #checkpointSeries = 0;

  constructor(name: string, instance: number, settings: DatabaseSettings) {
    this.name = name;
    this.instance = instance;
    this.index = new SeriesIndex(name, settings.postings);
    this.ingest = new Ingest(this.index, settings);
  }

  /** A write goes to the log; the result says that it was applied or refused. In the order of the log. */
  beginWrite(): () => void {
    this.#writesBegun++;
    return () => {
      this.#writesEnded++;
      this.#forgetDead();
    };
  }

  /**
   * After a delete: series that no shard holds any more leave the index when the writes are done that were parsed while
   * they were there.
   */
  dropDead(): void {
    const ids = this.index.takeDead();
    if (ids.length > 0) this.#dead.push({ ids, after: this.#writesBegun });
    this.#forgetDead();
  }

  #forgetDead(): void {
    while (this.#dead.length > 0 && this.#dead[0]!.after <= this.#writesEnded) {
      this.index.forgetDead(this.#dead.shift()!.ids);
    }
  }

  get ref(): DatabaseRef {
    return { name: this.name, instance: this.instance };
  }

  /** What a record has to bring so that its ids can be resolved, and marks it as logged. */
  takeAdditions(): IndexAdditions {
    const additions = this.#additionsSince(this.#loggedMeasurements, this.#loggedSeries);
    const { index } = this;
    this.#loggedMeasurements = index.measurements.length;
    this.#loggedSeries = index.seriesCount;
    return additions;
  }

  /** Undoes `takeAdditions` of a record that could not be logged; later records bring its entries again. */
  returnAdditions(additions: IndexAdditions): void {
    this.#loggedMeasurements = Math.min(this.#loggedMeasurements, additions.firstMeasurementId);
    this.#loggedSeries = Math.min(this.#loggedSeries, additions.firstSeriesId);
  }

  /** Everything that is in the index now came from the log. */
  markLogged(): void {
    this.#loggedMeasurements = this.index.measurements.length;
    this.#loggedSeries = this.index.seriesCount;
  }

  /** Everything that is in the index now came from the index files. */
  markPersisted(): void {
    this.#persistedMeasurements = this.index.measurements.length;
    this.#persistedSeries = this.index.seriesCount;
  }

  /** Whether opening would have to build so many series that a new checkpoint pays. */
  needsCheckpoint(options: { readonly isClosing: boolean }): boolean {
    const uncovered = this.#persistedSeries - this.#checkpointSeries;
    if (options.isClosing) return uncovered > CLOSING_SERIES_MIN;
    return uncovered > Math.max(RUNNING_SERIES_MIN, this.#checkpointSeries / 2);
  }

  /** Writes a checkpoint of what is in the index log, which has `logBytes`. */
  async writeCheckpoint(
    logBytes: number,
    options: Parameters<typeof writeCheckpoint>[2],
  ): Promise<void> {
    const series = this.#persistedSeries;
    const range = { measurements: this.#persistedMeasurements, series, logBytes };
    await writeCheckpoint(this.index, range, options);
    this.#checkpointSeries = series;
  }

  /** Fills the empty index from a checkpoint; bytes of the index log that need not be read. */
  readCheckpoint(options: { readonly disk: Disk; readonly path: string }): number {
    const range = readCheckpoint(this.index, options);
    this.#checkpointSeries = range?.series ?? 0;
    return range?.logBytes ?? 0;
  }

  /** Entries that only the log files hold, in portions, and where they end; `undefined` when there are none. */
  unpersisted():
    | { readonly portions: Iterable<IndexAdditions>; readonly end: IndexEnd }
    | undefined {
    const end = this.#end();
    const first = { measurements: this.#persistedMeasurements, series: this.#persistedSeries };
    if (first.measurements === end.measurements && first.series === end.series) return undefined;
    return { portions: this.#portions(first, end), end };
  }

  /** All entries of the index, in portions. Later additions are left out. */
  allAdditions(): Generator<IndexAdditions> {
    return this.#portions({ measurements: 0, series: 0 }, this.#end());
  }

  /** Entries up to these numbers are in the index files now. */
  persisted({ measurements, series }: IndexEnd): void {
    this.#persistedMeasurements = measurements;
    this.#persistedSeries = series;
  }

  #end(): IndexEnd {
    return { measurements: this.index.measurements.length, series: this.index.seriesCount };
  }

  /** Measurements come with the first portion: series of all of them may refer to any. */
  *#portions(first: IndexEnd, end: IndexEnd): Generator<IndexAdditions> {
    const { index } = this;
    const all = index.measurements.slice(first.measurements, end.measurements);
    let measurements = all.map(({ name }) => name);
    let firstMeasurementId = first.measurements;
    let from = first.series;
    do {
      const to = Math.min(end.series, from + PORTION_SERIES);
      const series = index.encodedSeries(from, to);
      yield { firstMeasurementId, measurements, firstSeriesId: from, series };
      firstMeasurementId += measurements.length;
      measurements = [];
      from = to;
    } while (from < end.series);
  }

  #additionsSince(firstMeasurementId: number, firstSeriesId: SeriesId): IndexAdditions {
    const { index } = this;
    const measurements: string[] = [];
    for (let id = firstMeasurementId; id < index.measurements.length; id++) {
      measurements.push(index.measurements[id]!.name);
    }
    const series = index.encodedSeries(firstSeriesId, index.seriesCount);
    return { firstMeasurementId, measurements, firstSeriesId, series };
  }
}
