// Whether a new series may be created: the soft limits of a policy. Series that exist are never
// refused.
import { runStarts } from '../memtable/row-runs.ts';
import { seriesLimit, tagValueLimit } from './messages.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import { parseSeriesKey } from '../series/series-key.ts';
import { SeriesSet } from '../series/series-set.ts';
import type { PolicyRef } from '../storage-engine.ts';
import type { TagValueCounter } from './tag-value-counter.ts';
import type { WriteBatch } from './write-batch.ts';

export type AdmissionParts = {
  readonly index: SeriesIndex;
  readonly tagValues: TagValueCounter;
  /** What is not applied yet: series that it brings count against the limit. */
  readonly pendingBatches: Iterable<WriteBatch>;
};

/** The admission of one request. */
export class SeriesAdmission {
  readonly #parts: AdmissionParts;
  readonly #policy: PolicyRef;
  /** Whether a tag has as many values as it may; known when the first series is new. */
  #hasFullTag: boolean | undefined;
  /** Series that the present batch of the request may have added. */
  #granted = 0;
  /** Series of other batches that are not applied yet; known when the limit is near. */
  #pendingCount: number | undefined;

  constructor(parts: AdmissionParts, policy: PolicyRef) {
    this.#parts = parts;
    this.#policy = policy;
  }

  get hasLimits(): boolean {
    return this.#policy.maxSeriesPerDatabase > 0 || this.#policy.maxValuesPerTag > 0;
  }

  /**
   * The reason to refuse a series that does not exist; or how many others of the batch are let in
   * with it. To be asked again when all of them are there.
   */
  admit(key: Uint8Array): string | number {
    const left = this.#seriesLeft();
    if (left <= 0) return seriesLimit(this.#policy.maxSeriesPerDatabase);
    const reason = this.#tagValueReason(key);
    if (reason !== undefined) return reason;
    // Next to a full tag each series has to be looked at.
    const granted = this.#hasFullTag === true ? 1 : left;
    this.#granted += granted;
    return granted - 1;
  }

  /** What was admitted is counted elsewhere from now on: in the index, or in a pending batch. */
  endBatch(): void {
    this.#granted = 0;
    this.#pendingCount = undefined;
    this.#hasFullTag = undefined;
  }

  /**
   * How many series may be added to those that have data or will have it. Fewer, but some, while
   * all that are known do not reach the limit: the others are counted one by one.
   */
  #seriesLeft(): number {
    const limit = this.#policy.maxSeriesPerDatabase;
    const { index } = this.#parts;
    if (limit === 0) return Number.POSITIVE_INFINITY;
    if (this.#granted === 0) {
      const left = limit - (index.keys.presentCount - index.forgottenCount);
      if (left > 0) return left;
    }
    this.#pendingCount ??= this.#countPending();
    return limit - index.liveSeries - this.#pendingCount - this.#granted;
  }

  #countPending(): number {
    const { index, pendingBatches } = this.#parts;
    const pending = new SeriesSet();
    for (const { parts } of pendingBatches) {
      for (const { series, rows } of parts.flatMap(({ tables }) => tables)) {
        for (const start of runStarts(series, rows)) {
          if (!index.isLive(series[start]!)) pending.add(series[start]!);
        }
      }
    }
    return pending.size;
  }

  // The index is not changed before the request is parsed: this looks at the values known before
  // it, so one request may overshoot, as recorded.
  #tagValueReason(seriesKey: Uint8Array): string | undefined {
    const limit = this.#policy.maxValuesPerTag;
    const { index, tagValues } = this.#parts;
    if (limit === 0) return undefined;
    // Taking the key apart costs more than all the rest of a new series, and mostly no tag is
    // anywhere near.
    this.#hasFullTag ??= tagValues.hasFull(limit);
    if (!this.#hasFullTag) return undefined;
    const { measurement, tags } = parseSeriesKey(seriesKey);
    const known = index.measurement(measurement);
    if (known === undefined) return undefined;
    for (const [key, value] of tags) {
      const values = tagValues.valuesOf(known, key);
      if (values.size < limit || values.has(index.findSymbol(value))) continue;
      return tagValueLimit({ measurement, key, value }, { known: values.size, limit });
    }
    return undefined;
  }
}
