// State that all operators of one statement share.
import { requestOptions } from '../look-up.ts';
import type { QueryContext } from '../context.ts';
import { checkLimit, MERGE_ROWS, MERGE_TEXT_BYTES, memoryLimitExceeded } from '../limits.ts';
import type { RowBatch } from '../batch/row-batch.ts';
import type { Operator, Steps } from '../operator.ts';
import type { MeasurementRef, RequestOptions, SourceCounters } from '../series-source.ts';
import type { Profile } from './profile.ts';
import { zeroCounters } from './profile.ts';

/** Counts what a statement uses and ends it when that is too much. */
export class ExecutionContext {
  readonly query: QueryContext;
  #points = 0;
  #filled = 0;
  readonly #series = new Set<string>();
  #bytes = 0;
  readonly #counters = zeroCounters();
  readonly #profile: Profile | undefined;

  /** `profile` is present if the costs of the operators are measured. */
  constructor(query: QueryContext, profile?: Profile) {
    this.query = query;
    this.#profile = profile;
  }

  /** Rows of one group that are merged at once. */
  get mergeRows(): number {
    return this.query.limits.mergeRows ?? MERGE_ROWS;
  }

  /** Texts of one group that are merged at once. */
  get mergeTextBytes(): number {
    const { maxQueryMemoryBytes } = this.query.limits;
    return maxQueryMemoryBytes === 0
      ? MERGE_TEXT_BYTES
      : Math.min(MERGE_TEXT_BYTES, maxQueryMemoryBytes / 4);
  }

  /**
   * The rows of an operator, measured if there is a profile; `owner` is the plan or the source that
   * it works for.
   */
  operator(label: string, owner: object, from: Operator<RowBatch>): Operator<RowBatch> {
    if (this.#profile === undefined) return from;
    return this.#profile.stream(label, owner, { from, rowsOf: (batch) => batch.times.length });
  }

  /** The answer of the source to a request, measured if there is a profile. */
  read<T>(
    label: string,
    owner: { readonly measurement: MeasurementRef },
    request: { readonly from: Operator<T>; readonly rowsOf: (batch: T) => number },
  ): Operator<T> {
    if (this.#profile === undefined) return request.from;
    const { database, retentionPolicy, measurement } = owner.measurement;
    const name = `${label} ${database}.${retentionPolicy}.${measurement}`;
    return this.#profile.source(name, owner, request);
  }

  /** A step of an operator between two batches, measured if there is a profile. */
  step<T>(label: string, owner: object, work: Steps<T>): Steps<T> {
    return this.#profile === undefined ? work : this.#profile.step(label, owner, work);
  }

  /** Work without pauses. */
  time<T>(label: string, owner: object, work: () => T): T {
    return this.#profile === undefined ? work() : this.#profile.time(label, owner, work);
  }

  countPoints(count: number): void {
    this.#points += count;
    checkLimit('max-select-point', this.#points, this.query.limits.maxSelectPoints);
  }

  /** Windows that `fill` has made, of all groups. */
  countFilled(count: number): void {
    this.#filled += count;
    checkLimit('max-filled-windows', this.#filled, this.query.limits.maxFilledWindows);
  }

  /** Options of a request whose rows are counted by the source. */
  countingOptions(): RequestOptions & { readonly counters: SourceCounters } {
    return { ...requestOptions(this.query), counters: this.query.counters ?? this.#counters };
  }

  /** Checks the number of rows that the source has read against the limit of points. */
  checkRowsRead({ rowsRead }: SourceCounters): void {
    checkLimit('max-select-point', rowsRead, this.query.limits.maxSelectPoints);
  }

  /** Counts a series once, however often it is read. */
  countSeries(seriesKey: string): void {
    const limit = this.query.limits.maxSelectSeries;
    if (limit === 0) return;
    this.#series.add(seriesKey);
    checkLimit('max-select-series', this.#series.size, limit);
  }

  /** Counts bytes that the statement holds until `release`. */
  hold(bytes: number): void {
    this.#bytes += bytes;
    const limit = this.query.limits.maxQueryMemoryBytes;
    if (limit > 0 && this.#bytes > limit) throw memoryLimitExceeded(limit);
    this.query.memory?.holds(this.#bytes);
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    this.query.memory?.holds(this.#bytes);
  }
}
