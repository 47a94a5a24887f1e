// What the engine keeps per database: the series index and how much of it is in the log.
import { assert } from '@tidemark/core';

import type { ManifestDatabase } from '../manifest/manifest.ts';
import type { SchemaVersions } from '../series/schema-version.ts';
import type { PostingsCache } from '../series/postings-cache.ts';
import { IndexRebuild } from '../series/index-rebuild.ts';
import { SeriesIndex } from '../series/series-index.ts';
import type { SeriesId } from '../columns/series-id.ts';
import type { DatabaseRef } from '../wal/wal-record.ts';
import type { IndexAdditions } from '../series/index-additions.ts';
import { StoredIndex } from '../series/stored-index.ts';

/** A rebuild under way: the index that will take the present one's place, and its files. */
export type PendingIndex = {
  readonly rebuild: IndexRebuild;
  readonly stored: StoredIndex;
  /** Nearly everything is copied and in its files: a flush that begins from now on adopts it. */
  isReady: boolean;
};

/** What indexes of all databases share. */
export type IndexResources = {
  readonly postings: PostingsCache;
  readonly schemaVersions: SchemaVersions;
};

export class Database {
  readonly name: string;
  /** Tells this database from an earlier one of the same name. */
  readonly instance: number;
  #stored: StoredIndex;
  #rebuild: PendingIndex | undefined;
  /** Measurements and series below these ids are in the log (or in the index files). */
  #loggedMeasurements = 0;
  #loggedSeries = 0;
  #writesBegun = 0;
  #writesEnded = 0;
  readonly #dead: { readonly ids: readonly SeriesId[]; readonly after: number }[] = [];

  constructor(
    ref: DatabaseRef & { readonly indexFile: number },
    { postings, schemaVersions }: IndexResources,
  ) {
    this.name = ref.name;
    this.instance = ref.instance;
    const index = new SeriesIndex(ref.name, postings, schemaVersions);
    this.#stored = new StoredIndex(index, ref.indexFile);
  }

  /** Another one after `adoptRebuilt`: whoever works over time with one holds it. */
  get index(): SeriesIndex {
    return this.#stored.index;
  }

  get stored(): StoredIndex {
    return this.#stored;
  }

  /** Of an index that is being rebuilt. */
  get rebuild(): PendingIndex | undefined {
    return this.#rebuild;
  }

  /**
   * A write goes to the log; the result says that it was applied or refused. In the order of the
   * log.
   */
  beginWrite(): () => void {
    this.#writesBegun++;
    return () => {
      this.#writesEnded++;
      this.#forgetDead();
    };
  }

  /**
   * After a delete: series that no shard holds any more leave the index when the writes are done
   * that were parsed while they were there.
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

  /** As the manifest names it when `stored` has its index. */
  manifestRef(stored: StoredIndex): ManifestDatabase {
    const { ref } = this;
    const index = stored.manifestEnd;
    return stored.fileId === ref.instance
      ? { ...ref, index }
      : { ...ref, indexFile: stored.fileId, index };
  }

  /** What a record has to bring so that its ids can be resolved, and marks it as logged. */
  takeAdditions(): IndexAdditions {
    const additions = this.#additionsSince(this.#loggedMeasurements, this.#loggedSeries);
    this.markLogged();
    return additions;
  }

  /**
   * Undoes `takeAdditions` of a record that could not be logged; later records bring its entries
   * again.
   */
  returnAdditions(additions: IndexAdditions): void {
    this.#loggedMeasurements = Math.min(this.#loggedMeasurements, additions.firstMeasurementId);
    this.#loggedSeries = Math.min(this.#loggedSeries, additions.firstSeriesId);
  }

  /** Everything that is in the index now came from the log. */
  markLogged(): void {
    this.#loggedMeasurements = this.index.measurements.length;
    this.#loggedSeries = this.index.seriesEnd;
  }

  /**
   * Whether deleted series take so much memory that an index without them pays: half of what the
   * others do.
   */
  needsRebuild(deadSeriesMin: number): boolean {
    const { forgottenCount, keys } = this.index;
    const dead = Math.max(deadSeriesMin, (keys.presentCount - forgottenCount) / 2);
    return this.#rebuild === undefined && forgottenCount >= dead;
  }

  /** Begins an index without the series that are deleted now. */
  beginRebuild(indexFile: number): PendingIndex {
    assert(this.#rebuild === undefined, 'one rebuild at a time');
    const rebuild = new IndexRebuild(this.index);
    const stored = new StoredIndex(rebuild.index, indexFile);
    this.#rebuild = { rebuild, stored, isReady: false };
    return this.#rebuild;
  }

  abandonRebuild(): void {
    this.#rebuild?.rebuild.end();
    this.#rebuild = undefined;
  }

  /**
   * The rebuilt index takes the place of the present one, which whoever holds it may go on reading.
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
