// The state that writes keep about a database.
import type { SeriesIndex } from '../series/series-index.ts';
import type { Database } from '../state/database.ts';
import { BatchBuilder } from './batch-builder.ts';
import type { BatchBuilderParts } from './batch-builder.ts';
import { TagValueCounter } from './tag-value-counter.ts';
import type { WriteBatch } from './write-batch.ts';

export class DatabaseWrites {
  readonly database: Database;
  readonly batches: BatchBuilder;
  /** Batches not applied yet. Their series count against the limit. */
  readonly pendingBatches = new Set<WriteBatch>();
  #counted: { readonly index: SeriesIndex; readonly tagValues: TagValueCounter } | undefined;

  constructor(parts: BatchBuilderParts & { readonly database: Database }) {
    this.database = parts.database;
    this.batches = new BatchBuilder(parts);
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
