// After the start, while nobody asks for anything, statements are run on points of no importance,
// so that V8 has compiled and optimised the way of a query before the first one comes: a statement
// that has never been run takes ten times as long as later, and the hundredth still twice as long
// (docs/benchmarks/2026-11-21-queries.md).
import type { RequestListener } from 'node:http';

import { Internal, NANOS_PER_WEEK } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { StorageEngine } from '@tidemark/storage';

import { Catalog } from '../catalog/catalog.ts';
import { EMPTY_CATALOG } from '../catalog/model.ts';
import type { RetentionPolicy } from '../catalog/model.ts';
import { policyRef } from '../write/policy-ref.ts';
import { RehearsalConnection } from './connection.ts';
import { BODIES, REHEARSAL_DATABASE, rehearsalLines, rehearsalStatements } from './script.ts';

export type RehearsalOptions = {
  readonly clock: Clock;
  /** Opens an engine that keeps everything in memory. */
  readonly openStorage: () => Promise<StorageEngine>;
  /** Everything that answers requests, over that engine and catalog only. */
  readonly serve: (storage: StorageEngine, catalog: Catalog) => RequestListener;
  readonly requests: RequestState;
  /** How often the statements are run; more than the default changes little. */
  readonly rounds?: number | undefined;
  /** It is quiet when nobody has asked for anything for so long. */
  readonly quietMs?: number | undefined;
};

type RequestState = {
  /** Those that have come so far. */
  readonly count: () => number;
  readonly isActive: () => boolean;
};

const ROUNDS = 40;
const QUIET_MS = 750;
/** Each has to store the points anew. */
const BEGINNINGS_MAX = 10;

/**
 * Runs once. Stops between two statements as soon as there is a request, and lets go of its memory,
 * which is the requests' then; goes on with the same round when it is quiet again.
 */
export class Rehearsal {
  readonly #options: RehearsalOptions;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #round = 0;

  constructor(options: RehearsalOptions) {
    this.#options = options;
  }

  /**
   * Resolves when it is over, also when it was ended by `close`. Rejects when it could not be done.
   */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Ends it after the statement that is being run. Idempotent. */
  async close(): Promise<void> {
    this.#abort.abort();
    // Whoever has started it hears of its failure.
    await this.#running?.catch(() => undefined);
  }

  async #run(): Promise<void> {
    for (let begun = 0; begun < BEGINNINGS_MAX && (await this.#isQuiet()); begun++) {
      const storage = await this.#options.openStorage();
      try {
        if (await this.#perform(storage)) return;
      } finally {
        await storage.close();
      }
    }
  }

  /** Whether it came to its end: `false` when there was a request or it was closed. */
  async #perform(storage: StorageEngine): Promise<boolean> {
    await store(storage, this.#options.clock);
    const catalog = Catalog.inMemory(STATE);
    const connection = new RehearsalConnection(this.#options.serve(storage, catalog));
    try {
      const { requests, rounds = ROUNDS } = this.#options;
      const seen = requests.count();
      for (; this.#round < rounds; this.#round++) {
        for (const statement of rehearsalStatements(this.#round)) {
          const path = `/query?db=${REHEARSAL_DATABASE}&q=${encodeURIComponent(statement)}`;
          const status = await connection.get(path);
          if (status !== 200) throw new Internal(`a rehearsed statement failed. status=${status}`);
          // What came meanwhile is read and served first.
          await new Promise((resolve) => {
            setImmediate(resolve);
          });
          if (requests.count() !== seen || this.#abort.signal.aborted) return false;
        }
      }
      return true;
    } finally {
      connection.close();
    }
  }

  /** Waits for a time without requests; `false` when it was closed meanwhile. */
  async #isQuiet(): Promise<boolean> {
    const { clock, requests, quietMs = QUIET_MS } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted) {
      const seen = requests.count();
      await clock.sleep(quietMs, signal).catch(() => undefined); // Closed: the loop ends.
      if (requests.count() === seen && !requests.isActive()) break;
    }
    return !signal.aborted;
  }
}

const POLICY: RetentionPolicy = {
  id: 2,
  name: 'autogen',
  durationNanos: 0n,
  shardDurationNanos: NANOS_PER_WEEK,
  replication: 1,
  subscriptions: [],
};

const DATABASE = {
  id: 1,
  name: REHEARSAL_DATABASE,
  policies: [POLICY],
  defaultPolicy: POLICY.name,
  continuousQueries: [],
};

const STATE = { ...EMPTY_CATALOG, databases: new Map([[DATABASE.name, DATABASE]]), nextId: 3 };

/** Most points in segments, the last ones in memory, as usual. */
async function store(storage: StorageEngine, clock: Clock): Promise<void> {
  const now = clock.now();
  const limits = { maxSeriesPerDatabase: 0, maxValuesPerTag: 0 };
  const policy = policyRef(DATABASE, POLICY, { now, limits });
  for (let i = 0; i < BODIES; i++) {
    await storage.writeLines({ policy, body: rehearsalLines(i), precision: 'ns', now });
    if (i < BODIES - 1) await storage.flush();
  }
}
