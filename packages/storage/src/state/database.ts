// A database: its series index, and the part of it that is in the log.
import { assert } from '@tidemark/core';

import { runStarts } from '../memtable/row-runs.ts';
import type { RowBlock } from '../columns/row-block.ts';
import type { ManifestDatabase } from '../manifest/manifest.ts';
import type { SchemaVersions } from '../series/schema-version.ts';
import type { IndexCache } from '../series/index-cache.ts';
import { IndexRebuild } from '../series/index-rebuild.ts';
import { SeriesIndex } from '../series/series-index.ts';
import { SeriesSet } from '../series/series-set.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { DatabaseRef } from '../wal/wal-record.ts';
import type { IndexAdditions } from '../series/index-additions.ts';
import { StoredIndex } from '../series/stored-index.ts';
import type { PersistedEnd } from '../series/stored-index.ts';

/** A rebuild in progress: the index that will replace the present one, and its files. */
export type PendingIndex = {
  readonly rebuild: IndexRebuild;
  readonly stored: StoredIndex;
  /** Nearly everything is copied and in files: the next flush that begins adopts the new index. */
  isReady: boolean;
};

/** Resources that the indexes of all databases share. */
export type IndexResources = {
  readonly cache: IndexCache;
  readonly schemaVersions: SchemaVersions;
  /** For `StoredIndex`. */
  readonly checkpointSeriesMin?: number | undefined;
};

/** About a millisecond of work. */
const DELETED_AT_ONCE = 1024;

export class Database {
  readonly name: string;
  /** Tells this database from an earlier one of the same name. */
  readonly instance: number;
  readonly #checkpointSeriesMin: number | undefined;
  readonly #makeIndex: () => SeriesIndex;
  #stored: StoredIndex;
  #rebuild: PendingIndex | undefined;
  /** Measurements and series with smaller ids are in the log or in the index files. */
  #loggedMeasurements = 0;
  #loggedSeries = 0;
  #writesBegun = 0;
  #writesEnded = 0;
  /** Rows of writes that have begun and not ended. */
  readonly #pending = new Set<readonly RowBlock[]>();
  readonly #empty: { readonly ids: Uint32Array; readonly after: number }[] = [];

  constructor(
    ref: DatabaseRef & { readonly indexFile: number },
    { cache, schemaVersions, checkpointSeriesMin }: IndexResources,
  ) {
    this.name = ref.name;
    this.instance = ref.instance;
    this.#makeIndex = () => new SeriesIndex(ref.name, cache, schemaVersions);
    this.#stored = new StoredIndex(this.#makeIndex, ref.indexFile, checkpointSeriesMin);
    this.#checkpointSeriesMin = checkpointSeriesMin;
  }

  /**
   * The present index. `adoptRebuilt` replaces it. Ordinals and readers belong to one index, so a
   * caller that pauses keeps the one it began with.
   */
  get index(): SeriesIndex {
    return this.#stored.index;
  }

  get stored(): StoredIndex {
    return this.#stored;
  }

  /**
   * Puts off reading the index, whose files hold `end`, until somebody needs it. `read` fills an
   * empty one.
   */
  readLater(end: PersistedEnd, read: (index: SeriesIndex) => void): void {
    const make = (): SeriesIndex => {
      const index = this.#makeIndex();
      read(index);
      return index;
    };
    this.#stored = new StoredIndex(make, this.#stored.fileId, this.#checkpointSeriesMin);
    this.#stored.persisted(end);
    this.#loggedMeasurements = end.measurements;
    this.#loggedSeries = end.series;
  }

  /** The rebuild in progress. */
  get rebuild(): PendingIndex | undefined {
    return this.#rebuild;
  }

  /**
   * Call it for each record in the order of the log; call the result when the record has been
   * applied or has failed.
   */
  beginWrite(rows: readonly RowBlock[]): () => void {
    this.#writesBegun++;
    this.#pending.add(rows);
    return () => {
      this.#writesEnded++;
      this.#pending.delete(rows);
    };
  }

  /**
   * Called when series have lost rows. Those that no shard holds any more leave the index by
   * `deleteEmpty`.
   */
  collectEmpty(): void {
    const ids = this.index.takeEmpty();
    if (ids.length === 0) return;
    this.#empty.push({ ids: Uint32Array.from(ids), after: this.#writesBegun });
  }

  /**
   * Deletes empty series from the index, in steps, once all writes are applied that were parsed
   * before the series became empty: these may bring rows of such a series.
   */
  *deleteEmpty(): Generator<undefined> {
    for (;;) {
      const empty = this.#empty.shift();
      if (empty === undefined) return;
      const { ids, after } = empty;
      if (after > this.#writesEnded) {
        this.#empty.unshift(empty);
        return;
      }
      if (ids.length > DELETED_AT_ONCE) {
        this.#empty.unshift({ ids: ids.subarray(DELETED_AT_ONCE), after });
      }
      const portion = ids.subarray(0, DELETED_AT_ONCE);
      // A later write has found the key, and will bring rows under the old id.
      const pending = this.#pendingSeries();
      this.index.deleteEmpty(portion.filter((id) => !pending.has(id)));
      const kept = portion.filter((id) => pending.has(id));
      if (kept.length > 0) this.#empty.push({ ids: kept, after: this.#writesBegun });
      yield undefined;
    }
  }

  #pendingSeries(): SeriesSet {
    const pending = new SeriesSet();
    for (const { series, rows } of [...this.#pending].flat()) {
      for (const start of runStarts(series, rows)) pending.add(series[start]!);
    }
    return pending;
  }

  get ref(): DatabaseRef {
    return { name: this.name, instance: this.instance };
  }

  /** The entry of the manifest when `stored` holds the index. */
  manifestRef(stored: StoredIndex): ManifestDatabase {
    const { ref } = this;
    const index = stored.manifestEnd;
    return stored.fileId === ref.instance
      ? { ...ref, index }
      : { ...ref, indexFile: stored.fileId, index };
  }

  /** Measurements and series that the log lacks, for the next record. Marks them as logged. */
  takeAdditions(): IndexAdditions {
    const additions = this.#additionsSince(this.#loggedMeasurements, this.#loggedSeries);
    this.markLogged();
    return additions;
  }

  /**
   * Undoes `takeAdditions` of a record that could not be logged: a later record will bring the
   * entries.
   */
  returnAdditions(additions: IndexAdditions): void {
    this.#loggedMeasurements = Math.min(this.#loggedMeasurements, additions.firstMeasurementId);
    this.#loggedSeries = Math.min(this.#loggedSeries, additions.firstSeriesId);
  }

  /** Marks everything in the index as logged. */
  markLogged(): void {
    if (!this.#stored.isRead) return;
    this.#loggedMeasurements = this.index.measurements.length;
    this.#loggedSeries = this.index.seriesEnd;
  }

  /**
   * Whether deleted series are worth a rebuild: there are half as many as others, and at least
   * `deletedSeriesMin`.
   */
  needsRebuild(deletedSeriesMin: number): boolean {
    if (!this.#stored.isRead) return false;
    const { deletedCount, keys } = this.index;
    const enough = Math.max(deletedSeriesMin, (keys.presentCount - deletedCount) / 2);
    return this.#rebuild === undefined && deletedCount >= enough;
  }

  /** Begins an index without the series that are deleted by now. */
  beginRebuild(indexFile: number): PendingIndex {
    assert(this.#rebuild === undefined, 'one rebuild at a time');
    const rebuild = new IndexRebuild(this.index);
    const stored = new StoredIndex(rebuild.index, indexFile, this.#checkpointSeriesMin);
    this.#rebuild = { rebuild, stored, isReady: false };
    return this.#rebuild;
  }

  abandonRebuild(): void {
    this.#rebuild?.rebuild.end();
    this.#rebuild = undefined;
  }

  /**
   * Replaces the present index by the rebuilt one. Readers that hold the old one can go on reading
   * it.
   */
  adoptRebuilt(): void {
    assert(this.#rebuild !== undefined, 'a rebuild is under way');
    const { rebuild, stored } = this.#rebuild;
    const old = this.index;
    rebuild.finish();
    this.#rebuild = undefined;
    this.#stored = stored;
    old.close();
  }

  #additionsSince(firstMeasurementId: number, firstSeriesId: SeriesId): IndexAdditions {
    const { index } = this;
    const measurements: string[] = [];
    for (let id = firstMeasurementId; id < index.measurements.length; id++) {
      measurements.push(index.measurements[id]!.name);
    }
    const series = index.encodedSeries(firstSeriesId, index.seriesEnd);
    return { firstMeasurementId, measurements, firstSeriesId, series };
  }
}
