// Warm-up: after the start, while there are no requests, statements run over dummy points, so that
// V8 has compiled and optimised the query path before the first request. The first run of a
// statement takes ten times as long as later ones, and the hundredth still twice as long
// (docs/adr/0009-bundle.md).
import type { Socket } from 'node:net';

import { Internal } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { PointStorage, StorageEngine } from '@tidemark/storage-api';

import { Catalog } from '../catalog/catalog.ts';
import { warmUpCatalog } from './catalog.ts';
import { WarmUpConnection } from './connection.ts';
import { BODIES, WARM_UP_DATABASES, warmUpLines, warmUpStatements } from './script.ts';

export type WarmUpOptions = {
  readonly clock: Clock;
  /** Opens an engine that keeps everything in memory. */
  readonly openStorage: () => Promise<StorageEngine>;
  /** Answers the requests of a connection, over that engine and catalog only. */
  readonly serve: (points: PointStorage, catalog: Catalog) => (socket: Socket) => void;
  readonly requests: RequestState;
  /** Processor time of the process so far. */
  readonly processorMs: () => number;
  /** How often the statements are run; more rounds than the default change little. */
  readonly rounds?: number | undefined;
  /** Pause without requests after which the service counts as quiet. */
  readonly quietMs?: number | undefined;
};

type RequestState = {
  /** Number of requests so far. */
  readonly count: () => number;
  readonly isActive: () => boolean;
};

const ROUNDS = 40;
const QUIET_MS = 750;
/** The warm-up ends after this time; on an idle machine it completes earlier. */
const PROCESSOR_MS_MAX = 4_000;
/** Maximum number of starts: each has to store the points again. */
const BEGINNINGS_MAX = 10;

/**
 * Runs once. Stops between two statements as soon as there is a request, and releases its memory,
 * which the requests can use then; continues with the same round when it is quiet again.
 */
export class WarmUp {
  readonly #options: WarmUpOptions;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #round = 0;
  /** Number of requests before it began. */
  #seen = 0;
  /** Processor time that is left for it. */
  #leftMs = PROCESSOR_MS_MAX;
  /** The processor time of the process at which it ends. */
  #endMs = 0;

  constructor(options: WarmUpOptions) {
    this.#options = options;
  }

  /** Resolves when it is over, also when it was ended by `close`. Rejects when it fails. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Ends it after the current statement. Idempotent. */
  async close(): Promise<void> {
    this.#abort.abort();
    // The caller gets its failure.
    await this.#running?.catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { openStorage, processorMs, requests } = this.#options;
    for (let begun = 0; begun < BEGINNINGS_MAX && (await this.#isQuiet()); begun++) {
      this.#seen = requests.count();
      const startMs = processorMs();
      this.#endMs = startMs + this.#leftMs;
      const storage = await openStorage();
      try {
        if (await this.#perform(storage)) return;
      } finally {
        await storage.close();
        this.#leftMs -= processorMs() - startMs;
      }
    }
  }

  /** Returns whether it completed: `false` after a request or `close`. */
  async #perform(storage: StorageEngine): Promise<boolean> {
    const take = this.#options.serve(storage, Catalog.inMemory(warmUpCatalog()));
    const connection = await WarmUpConnection.open(take);
    try {
      return (await this.#store(storage, connection)) && (await this.#ask(connection));
    } finally {
      connection.close();
    }
  }

  /** Stores most points in segments and the last ones in memory, as usual. */
  async #store(storage: StorageEngine, connection: WarmUpConnection): Promise<boolean> {
    for (const database of WARM_UP_DATABASES) {
      for (let i = 0; i < BODIES; i++) {
        requireOk(await connection.post(`/write?db=${database}`, warmUpLines(i)));
        if (i < BODIES - 1) await storage.flush();
        if (await this.#isDisturbed()) return false;
      }
    }
    return true;
  }

  async #ask(connection: WarmUpConnection): Promise<boolean> {
    const { processorMs, rounds = ROUNDS } = this.#options;
    for (; this.#round < rounds; this.#round++) {
      const database = WARM_UP_DATABASES[Math.floor(this.#round / 2) % 2];
      for (const statement of warmUpStatements(this.#round)) {
        const path = `/query?db=${database}&q=${encodeURIComponent(statement)}`;
        requireOk(await connection.get(path));
        if (await this.#isDisturbed()) return false;
        if (processorMs() > this.#endMs) return true;
      }
    }
    return true;
  }

  /** Whether it has to stop. Waiting requests are read and served first. */
  async #isDisturbed(): Promise<boolean> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    return this.#options.requests.count() !== this.#seen || this.#abort.signal.aborted;
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

function requireOk(status: number): void {
  if (status >= 300) throw new Internal(`a request of the warm-up failed. status=${status}`);
}
