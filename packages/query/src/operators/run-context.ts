// What all operators of one statement share.
import type { QueryContext } from '../context.ts';
import { memoryLimitExceeded, pointLimitExceeded, seriesLimitExceeded } from '../limits.ts';
import { Pace } from './pace.ts';

/** Counts what a statement uses and ends it when that is too much. */
export class RunContext {
  readonly query: QueryContext;
  readonly pace: Pace;
  #points = 0;
  #series = 0;
  #bytes = 0;

  constructor(query: QueryContext) {
    this.query = query;
    this.pace = new Pace(query.signal, query.monotonicMs);
  }

  countPoints(count: number): void {
    this.#points += count;
    const limit = this.query.limits.maxSelectPoints;
    if (limit > 0 && this.#points > limit) throw pointLimitExceeded(this.#points, limit);
  }

  countSeries(count: number): void {
    this.#series += count;
    const limit = this.query.limits.maxSelectSeries;
    if (limit > 0 && this.#series > limit) throw seriesLimitExceeded(this.#series, limit);
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
