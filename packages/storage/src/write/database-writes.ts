// The state that writes keep about a database.
import type { RowBuffers } from '@tidemark/kernels';

import type { SeriesIndex } from '../series/series-index.ts';
import type { Database } from '../state/database.ts';
import { Ingest } from './ingest.ts';
import type { IngestSettings } from './ingest.ts';
import { TagValueCounter } from './tag-value-counter.ts';
import type { WriteBatch } from './write-batch.ts';

export class DatabaseWrites {
  readonly database: Database;
  readonly ingest: Ingest;
  /** Batches not applied yet. Their series count against the limit. */
  readonly pendingBatches = new Set<WriteBatch>();
  #counted: { readonly index: SeriesIndex; readonly tagValues: TagValueCounter } | undefined;

  constructor(database: Database, settings: IngestSettings, buffers: RowBuffers) {
    this.database = database;
    this.ingest = new Ingest(database, settings, buffers);
  }

  get index(): SeriesIndex {
    return this.database.index;
  }

  /** Counts for the present index; a rebuilt index is counted again from the beginning. */
  get tagValues(): TagValueCounter {
    const { index } = this;
    if (this.#counted?.index !== index) {
      this.#counted = { index, tagValues: new TagValueCounter(index) };
    }
    return this.#counted.tagValues;
  }
}
