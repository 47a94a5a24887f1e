// What writes keep of a database while it is there.
import type { SeriesIndex } from '../series/series-index.ts';
import type { Database } from '../state/database.ts';
import { Ingest } from './ingest.ts';
import type { IngestSettings } from './ingest.ts';
import { TagValueCounter } from './tag-value-counter.ts';
import type { WriteBatch } from './write-batch.ts';

export class DatabaseWrites {
  readonly database: Database;
  readonly ingest: Ingest;
  /** Batches that are not applied yet: their series count against a limit already. */
  readonly pendingBatches = new Set<WriteBatch>();
  #counted: { readonly index: SeriesIndex; readonly tagValues: TagValueCounter } | undefined;

  constructor(database: Database, settings: IngestSettings) {
    this.database = database;
    this.ingest = new Ingest(database, settings);
  }

  get index(): SeriesIndex {
    return this.database.index;
  }

  /** Of the present index: a rebuilt one is counted anew. */
  get tagValues(): TagValueCounter {
    const { index } = this;
    if (this.#counted?.index !== index) {
      this.#counted = { index, tagValues: new TagValueCounter(index) };
    }
    return this.#counted.tagValues;
  }
}
