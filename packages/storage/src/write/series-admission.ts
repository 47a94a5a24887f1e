// Whether a new series may be created: the soft limits of a policy. Series that exist are never refused.
import { seriesLimit, tagValueLimit } from '../messages.ts';
import type { SeriesIndex } from '../series/series-index.ts';
import { parseSeriesKey } from '../series/series-key.ts';
import type { PolicyRef } from '../storage-engine.ts';
import type { TagValueCounter } from './tag-value-counter.ts';

/** A batch does not bring as many. */
const GRANTED_MAX = 2 ** 30;

export type AdmissionParts = {
  readonly index: SeriesIndex;
  readonly tagValues: TagValueCounter;
  /** New series of requests that are not applied yet: they count against the limit. */
  readonly admitted: { readonly size: number };
};

/** The admission of one request. */
export class SeriesAdmission {
  readonly #parts: AdmissionParts;
  readonly #policy: PolicyRef;
  /** Whether a tag has as many values as it may; known when the first series is new. */
  #hasFullTag: boolean | undefined;
  /** Series that the present batch of the request may have added. */
  #granted = 0;

  constructor(parts: AdmissionParts, policy: PolicyRef) {
    this.#parts = parts;
    this.#policy = policy;
  }

  get hasLimits(): boolean {
    return this.#policy.maxSeriesPerDatabase > 0 || this.#policy.maxValuesPerTag > 0;
  }

  /**
   * The reason to refuse a series that does not exist; or how many others of the batch are let in with it. To be asked
   * again when all of them are there.
   */
  admit(key: Uint8Array): string | number {
    const reason = this.#seriesReason() ?? this.#tagValueReason(key);
    if (reason !== undefined) return reason;
    this.#granted++;
    // Next to a full tag each series has to be looked at.
    const others = this.#hasFullTag === true ? 0 : Math.min(this.#seriesLeft(), GRANTED_MAX);
    this.#granted += others;
    return others;
  }

  /** What was admitted is counted elsewhere from now on: in the index, or among the admitted. */
  endBatch(): void {
    this.#granted = 0;
    this.#hasFullTag = undefined;
  }

  #seriesReason(): string | undefined {
    return this.#seriesLeft() > 0 ? undefined : seriesLimit(this.#policy.maxSeriesPerDatabase);
  }

  /** How many series may be added to those that there are or will be. */
  #seriesLeft(): number {
    const limit = this.#policy.maxSeriesPerDatabase;
    const { index, admitted } = this.#parts;
    if (limit === 0) return Number.POSITIVE_INFINITY;
    return limit - index.liveSeries - admitted.size - this.#granted;
  }

  // The index is not changed before the request is parsed: this looks at the values known before it, so one request
  // may overshoot, as recorded.
  #tagValueReason(seriesKey: Uint8Array): string | undefined {
    const limit = this.#policy.maxValuesPerTag;
    const { index, tagValues } = this.#parts;
    if (limit === 0) return undefined;
    // Taking the key apart costs more than all the rest of a new series, and mostly no tag is anywhere near.
    this.#hasFullTag ??= tagValues.hasFull(limit);
    if (!this.#hasFullTag) return undefined;
    const { measurement, tags } = parseSeriesKey(seriesKey);
    const known = index.measurement(measurement);
    if (known === undefined) return undefined;
    for (const [key, value] of tags) {
      const values = tagValues.valuesOf(known, key);
      if (values.size < limit || values.has(index.findText(value))) continue;
      return tagValueLimit({ measurement, key, value }, { known: values.size, limit });
    }
    return undefined;
  }
}
