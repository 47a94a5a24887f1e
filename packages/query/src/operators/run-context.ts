// What all operators of one statement share.
import { requestOptions } from '../analyse/schema.ts';
import type { QueryContext } from '../context.ts';
import {
  MERGE_ROWS,
  memoryLimitExceeded,
  pointLimitExceeded,
  seriesLimitExceeded,
} from '../limits.ts';
import type { RequestOptions, SourceCounters } from '../series-source.ts';
import { Pace } from './pace.ts';

/** Counts what a statement uses and ends it when that is too much. */
export class RunContext {
  readonly query: QueryContext;
  readonly pace: Pace;
  #points = 0;
  readonly #series = new Set<string>();
  #bytes = 0;
  readonly #counters: SourceCounters = {
    seriesVisited: 0,
    chunksRead: 0,
    chunksSkipped: 0,
    chunksAnsweredByStatistics: 0,
    rowsRead: 0,
    bytesRead: 0,
  };

  constructor(query: QueryContext) {
    this.query = query;
    this.pace = new Pace(query.signal, query.monotonicMs);
  }

  /** Rows of one group that are merged at once. */
  get mergeRows(): number {
    return this.query.limits.mergeRows ?? MERGE_ROWS;
  }

  countPoints(count: number): void {
    this.#points += count;
    const limit = this.query.limits.maxSelectPoints;
    if (limit > 0 && this.#points > limit) throw pointLimitExceeded(this.#points, limit);
  }

  /** Options of a request whose rows do not come here to be counted. */
  countingOptions(): RequestOptions & { readonly counters: SourceCounters } {
    return { ...requestOptions(this.query), counters: this.query.counters ?? this.#counters };
  }

  /** Holds the rows that the source has read by itself against the limit of points. */
  checkRowsRead({ rowsRead }: SourceCounters): void {
    const limit = this.query.limits.maxSelectPoints;
    if (limit > 0 && rowsRead > limit) throw pointLimitExceeded(rowsRead, limit);
  }

  /** Counts a series once, however often it is read. */
  countSeries(seriesKey: string): void {
    const limit = this.query.limits.maxSelectSeries;
    if (limit === 0) return;
    this.#series.add(seriesKey);
    if (this.#series.size > limit) throw seriesLimitExceeded(this.#series.size, limit);
  }

  /** Bytes that the statement holds on to; given back with `release`. */
  hold(bytes: number): void {
    this.#bytes += bytes;
    const limit = this.query.limits.maxQueryMemoryBytes;
    if (limit > 0 && this.#bytes > limit) throw memoryLimitExceeded(limit);
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}
