// SeriesSource over an engine in the same thread.
import { Internal, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import {
  AGGREGATE_FUNCTIONS,
  collectNames,
  FOLD_FUNCTIONS,
  nextBatch,
  zeroCounters,
} from '@tidemark/query';
import type {
  Operator,
  Steps,
  RequestOptions,
  SeriesSource,
  SourceCapabilities,
  SourceSnapshot,
} from '@tidemark/query';

import { aggregate } from './aggregate.ts';
import { cost } from './cost.ts';
import type { ReadOptions } from './damaged-data.ts';
import { RequestMemory } from './request-memory.ts';
import { scan } from './scan.ts';
import { schema } from './schema.ts';
import { sliced } from './slicer.ts';
import type { Turns } from '../schedule/turns.ts';
import type { ReadKernels } from '../columns/read-kernels.ts';
import type { LeasedReader } from './leased-read.ts';
import type { LastRows } from './last-rows.ts';
import type { MemoryTotal } from './request-memory.ts';
import type { Snapshot } from '../state/snapshot.ts';

export const CAPABILITIES: SourceCapabilities = {
  hasSnapshots: true,
  filtersFields: true,
  calculatesConditions: true,
  ranksRows: true,
  aggregateFunctions: new Set(AGGREGATE_FUNCTIONS),
  foldFunctions: new Set(FOLD_FUNCTIONS),
};

/** Frees what a request has used when its work ends. */
export function* ending<T>(
  work: Operator<T>,
  { memory, kernels }: Pick<ReadOptions, 'memory' | 'kernels'>,
): Operator<T> {
  kernels.acquire();
  try {
    yield* work;
  } finally {
    memory.end();
    kernels.release();
  }
}

export type LocalSourceOptions = {
  /** Takes a snapshot. */
  readonly snapshot: () => Snapshot;
  readonly turns: Turns;
  /** Memory that the requests of all queries hold. */
  readonly requestMemory: MemoryTotal;
  readonly kernels: ReadKernels;
  readonly lastRows: LastRows;
  /** Large aggregates are left to it. */
  readonly reader?: LeasedReader | undefined;
  readonly clock: Clock;
  readonly snapshotMaxAgeMs: number;
};

export class LocalSource implements SeriesSource {
  readonly capabilities = CAPABILITIES;
  readonly #options: LocalSourceOptions;

  constructor(options: LocalSourceOptions) {
    this.#options = options;
  }

  snapshot(): SourceSnapshot {
    return localSnapshot(this.#options);
  }
}

/** The single value of an answer. */
export function* only<T>(answer: Operator<T>): Steps<T> {
  try {
    const value = yield* nextBatch(answer);
    if (value === undefined) throw new Internal('an answer of one value was empty');
    return value;
  } finally {
    answer.return();
  }
}

function localSnapshot(options: LocalSourceOptions): SourceSnapshot {
  const { clock, snapshotMaxAgeMs, turns, requestMemory, kernels, lastRows, reader } = options;
  let held: Snapshot | undefined = options.snapshot();
  const deadline = clock.monotonicMs() + snapshotMaxAgeMs;
  const use = (): Snapshot => {
    if (held === undefined) throw new Unavailable('snapshot is closed');
    if (clock.monotonicMs() > deadline) {
      throw new Unavailable(`snapshot is too old. ageMs=${snapshotMaxAgeMs}`);
    }
    return held;
  };
  const run = <T>(
    make: (snapshot: Snapshot, how: ReadOptions) => Operator<T>,
    {
      signal,
      counters = zeroCounters(),
      memoryLimitBytes,
      memory: of,
      ended,
      onPartial,
    }: RequestOptions,
  ): Operator<T> => {
    const memory = new RequestMemory(memoryLimitBytes, requestMemory, of);
    const shared = { kernels, lastRows, reader };
    const work = make(use(), { ...shared, counters, memory, ended, onPartial, signal });
    return sliced(ending(work, { memory, kernels }), { turns, signal, memory });
  };
  return {
    schema: (request, o) => run((snapshot, how) => schema(snapshot, request, how), o),
    names: (filter, o) => {
      const request = { kind: 'names', filter } as const;
      const answer = run((snapshot, how) => schema(snapshot, request, how), o);
      return collectNames(filter.database, answer);
    },
    scan: (request, o) => run((snapshot, how) => scan(snapshot, request, how), o),
    aggregate: (request, o) => run((snapshot, how) => aggregate(snapshot, request, how), o),
    cost: (request, o) => only(run((snapshot, how) => cost(snapshot, request, how), o)),
    close: () => {
      held?.release();
      held = undefined;
    },
  };
}
