// The cost of each operator of one statement, for EXPLAIN ANALYZE. Other statements have no
// profile.
//
// Operators pull from each other, one at a time, so an operator that is pulled for the first time
// works for the one that is being pulled at that moment.
import { isPause } from '../operator.ts';
import type { Operator, Pause, Steps } from '../operator.ts';
import type { SourceCounters } from '../series-source.ts';

/**
 * One operator. Times are milliseconds of wall time, including waits for the source and for other
 * queries.
 */
export type OperatorCost = {
  readonly label: string;
  /** Time spent in this operator and in everything below it. */
  totalMs: number;
  batches: number;
  rows: number;
  readonly children: OperatorCost[];
  /** Counters of the source meanwhile; only for operators that read it. */
  counters: SourceCounters | undefined;
};

/** Names of the counters of a source. */
export const COUNTER_NAMES = [
  'seriesVisited',
  'chunksRead',
  'chunksSkipped',
  'chunksAnsweredByStatistics',
  'rowsRead',
  'bytesRead',
  'readerMs',
] as const satisfies readonly (keyof SourceCounters)[];

/** Counters with all values zero. */
export function zeroCounters(): SourceCounters {
  return {
    seriesVisited: 0,
    chunksRead: 0,
    chunksSkipped: 0,
    chunksAnsweredByStatistics: 0,
    rowsRead: 0,
    bytesRead: 0,
    readerMs: 0,
  };
}

/** The part of an operator's time that it did not spend waiting for those below it. */
export function ownMs({ totalMs, children }: OperatorCost): number {
  return Math.max(0, totalMs - children.reduce((sum, child) => sum + child.totalMs, 0));
}

/** Measures the operators of one statement. `counters` are those of the source of the statement. */
export class Profile {
  readonly root: OperatorCost = operator('statement');
  readonly #monotonicMs: () => number;
  readonly #counters: SourceCounters;
  readonly #costs = new Map<object, Map<string, OperatorCost>>();
  #current: OperatorCost = this.root;

  constructor(monotonicMs: () => number, counters: SourceCounters) {
    this.#monotonicMs = monotonicMs;
    this.#counters = counters;
  }

  /**
   * The same operator, measured. `owner` distinguishes operators with the same label: it is their
   * plan or source.
   */
  *stream<T>(
    label: string,
    owner: object,
    { from, rowsOf }: { readonly from: Operator<T>; readonly rowsOf: (batch: T) => number },
  ): Operator<T> {
    const cost = this.#costOf(label, owner);
    try {
      for (;;) {
        const next = yield* this.#measured(cost, from);
        if (next.done === true) return;
        cost.batches++;
        cost.rows += rowsOf(next.value);
        yield next.value;
      }
    } finally {
      from.return();
    }
  }

  /** Like `stream`, for operators that read the source: its counters are recorded too. */
  source<T>(
    label: string,
    owner: object,
    read: { readonly from: Operator<T>; readonly rowsOf: (batch: T) => number },
  ): Operator<T> {
    const cost = this.#costOf(label, owner);
    cost.counters ??= zeroCounters();
    return this.stream(label, owner, read);
  }

  /** A step that another operator does between two batches. */
  *step<T>(label: string, owner: object, work: Steps<T>): Steps<T> {
    const cost = this.#costOf(label, owner);
    cost.batches++;
    const end = yield* this.#measured(cost, work);
    return end.value as T;
  }

  /** Work without pauses. */
  time<T>(label: string, owner: object, work: () => T): T {
    const cost = this.#costOf(label, owner);
    const started = this.#monotonicMs();
    try {
      return work();
    } finally {
      cost.batches++;
      cost.totalMs += this.#monotonicMs() - started;
    }
  }

  /** The next batch or the end of some work. Waits count for all operators that wait. */
  *#measured<T, R>(
    cost: OperatorCost,
    work: Generator<T | Pause, R, undefined>,
  ): Steps<IteratorYieldResult<T> | IteratorReturnResult<R>> {
    const before = cost.counters === undefined ? undefined : { ...this.#counters };
    const started = this.#monotonicMs();
    const around = this.#current;
    try {
      for (;;) {
        this.#current = cost;
        const next = work.next();
        this.#current = around;
        if (next.done === true) return next;
        const { value } = next;
        if (!isPause(value)) return { done: false, value };
        yield value;
      }
    } finally {
      this.#current = around;
      cost.totalMs += this.#monotonicMs() - started;
      if (before !== undefined) addDifference(cost.counters, before, this.#counters);
    }
  }

  #costOf(label: string, owner: object): OperatorCost {
    let labels = this.#costs.get(owner);
    if (labels === undefined) this.#costs.set(owner, (labels = new Map<string, OperatorCost>()));
    let cost = labels.get(label);
    if (cost === undefined) {
      cost = operator(label);
      labels.set(label, cost);
      this.#current.children.push(cost);
    }
    return cost;
  }
}

function operator(label: string): OperatorCost {
  return { label, totalMs: 0, batches: 0, rows: 0, children: [], counters: undefined };
}

function addDifference(
  sum: SourceCounters | undefined,
  before: SourceCounters,
  after: SourceCounters,
): void {
  if (sum === undefined) return;
  for (const name of COUNTER_NAMES) sum[name] += after[name] - before[name];
}
