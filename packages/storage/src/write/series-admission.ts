// Decides whether a new series may be created, by the limits of a policy. Series that exist are
// never refused.
import { parseSeriesKey, seriesLimit, tagValueLimit } from '@tidemark/storage-api';
import type { IngestTarget, PolicyRef } from '@tidemark/storage-api';

import { runStarts } from '../memtable/row-runs.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import { SeriesSet } from '../series/series-set.ts';
import type { TagValueCounter } from './tag-value-counter.ts';
import type { WriteBatch } from './write-batch.ts';

export type AdmissionParts = {
  readonly index: SeriesIndex;
  readonly tagValues: TagValueCounter;
  /** Batches not applied yet. Their series count against the limit. */
  readonly pendingBatches: Iterable<WriteBatch>;
};

/** Admission for one request. */
export class SeriesAdmission {
  readonly #parts: AdmissionParts;
  readonly #policy: PolicyRef;
  /** Whether some tag has as many values as allowed; determined when the first new series comes. */
  #hasFullTag: boolean | undefined;
  /** Series granted to the present batch of the request. */
  #granted = 0;
  /** Series of other batches that are not applied yet; counted only near the limit. */
  #pendingCount: number | undefined;

  constructor(parts: AdmissionParts, policy: PolicyRef) {
    this.#parts = parts;
    this.#policy = policy;
  }

  /** Whether it counts the series of these. */
  isOf(parts: AdmissionParts): boolean {
    return this.#parts === parts;
  }

  /** `undefined` where the policy has no limits. */
  get admitSeries(): IngestTarget['admitSeries'] {
    const { maxSeriesPerDatabase, maxValuesPerTag } = this.#policy;
    const hasLimits = maxSeriesPerDatabase > 0 || maxValuesPerTag > 0;
    return hasLimits ? (key) => this.#admit(key) : undefined;
  }

  /**
   * Called for a series that does not exist. Returns the reason to refuse it, or how many more new
   * series of the batch may be created without asking.
   */
  #admit(key: Uint8Array): string | number {
    const left = this.#seriesLeft();
    if (left <= 0) return seriesLimit(this.#policy.maxSeriesPerDatabase);
    const reason = this.#tagValueReason(key);
    if (reason !== undefined) return reason;
    // When some tag is full, every series has to be checked.
    const granted = this.#hasFullTag === true ? 1 : left;
    this.#granted += granted;
    return granted - 1;
  }

  /**
   * Call it between batches. The series of the last batch are counted elsewhere now: in the index,
   * or in a pending batch.
   */
  endBatch(): void {
    this.#granted = 0;
    this.#pendingCount = undefined;
    this.#hasFullTag = undefined;
  }

  /**
   * How many more series may be created. Away from the limit it returns a cheap lower bound: it
   * subtracts all series that the index knows, even those without rows. Near the limit it counts
   * exactly.
   */
  #seriesLeft(): number {
    const limit = this.#policy.maxSeriesPerDatabase;
    const { index } = this.#parts;
    if (limit === 0) return Number.POSITIVE_INFINITY;
    if (this.#granted === 0) {
      const left = limit - (index.keys.presentCount - index.deletedCount);
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

  // Looks at the values known before this request, because the index changes only after parsing. So
  // one request can exceed the limit, as in InfluxDB.
  #tagValueReason(seriesKey: Uint8Array): string | undefined {
    const limit = this.#policy.maxValuesPerTag;
    const { index, tagValues } = this.#parts;
    if (limit === 0) return undefined;
    // Parsing the key costs more than everything else about a new series, and usually no tag is
    // near its limit.
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
