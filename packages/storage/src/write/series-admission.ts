// Whether a new series may be created: the soft limits of a policy. Series that exist are never refused.
import { seriesLimit, tagValueLimit } from '../messages.ts';
import type { SeriesId, SeriesIndex, TagPair } from '../series/series-index.ts';
import type { PolicyRef } from '../storage-engine.ts';
import type { TagValueCounter } from './tag-value-counter.ts';

export type AdmissionParts = {
  readonly index: SeriesIndex;
  readonly tagValues: TagValueCounter;
  /** New series of requests that are not applied yet: they count against the limit. */
  readonly admitted: ReadonlySet<SeriesId>;
};

/** The admission of one request. */
export class SeriesAdmission {
  readonly #parts: AdmissionParts;
  readonly #policy: PolicyRef;
  /** Series that this request added so far. */
  #added = 0;

  constructor(parts: AdmissionParts, policy: PolicyRef) {
    this.#parts = parts;
    this.#policy = policy;
  }

  get hasLimits(): boolean {
    return this.#policy.maxSeriesPerDatabase > 0 || this.#policy.maxValuesPerTag > 0;
  }

  /** The reason to refuse, or `undefined`. */
  admit(measurement: string, tags: readonly TagPair[]): string | undefined {
    const { index } = this.#parts;
    const known = index.measurement(measurement);
    const id = known === undefined ? -1 : index.findSeries(known, tags);
    if (id >= 0 && index.isLive(id)) return undefined;
    const reason = this.#seriesReason() ?? this.#tagValueReason(measurement, tags);
    if (reason === undefined) this.#added++;
    return reason;
  }

  #seriesReason(): string | undefined {
    const limit = this.#policy.maxSeriesPerDatabase;
    const { index, admitted } = this.#parts;
    if (limit === 0) return undefined;
    return index.liveSeries + admitted.size + this.#added >= limit ? seriesLimit(limit) : undefined;
  }

  // The index is not changed before the request is parsed: this looks at the values known before it, so one request
  // may overshoot, as recorded.
  #tagValueReason(measurement: string, tags: readonly TagPair[]): string | undefined {
    const limit = this.#policy.maxValuesPerTag;
    const { index, tagValues } = this.#parts;
    const known = index.measurement(measurement);
    if (limit === 0 || known === undefined) return undefined;
    for (const [key, value] of tags) {
      const values = tagValues.valuesOf(known, key);
      if (values.size < limit || values.has(index.findText(value))) continue;
      return tagValueLimit({ measurement, key, value }, { known: values.size, limit });
    }
    return undefined;
  }
}
