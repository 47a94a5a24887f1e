// Running queries: admission, SHOW QUERIES, KILL QUERY, time limits, shutdown.
import { Cancelled, InvalidRequest, LimitExceeded, NotFound, Numbered } from '@tidemark/core';
import type { Clock, Holder, Part } from '@tidemark/core';

import { QUERY_INTERRUPTED, QUERY_SHUTDOWN, QUERY_TIMEOUT } from '../compat/messages.ts';
import type { QueryMemory } from '@tidemark/query';

import type { Requirement } from '../auth/requirements.ts';
import type { QueryCounters } from '../stats/statistics.ts';
import type { OpenMemory, QueryMemories } from './query-memory.ts';
import type { SlowQueries } from './slow-queries.ts';

export type RunningQuery = {
  readonly id: number;
  /** Its text without passwords; printed on request. */
  readonly text: () => string;
  readonly database: string;
  /** The rights that it needed itself, and that readers of its text need. */
  readonly requires: () => readonly Requirement[];
  readonly signal: AbortSignal;
  readonly memory: QueryMemory;
};

/** The description of a query when it begins. */
type QueryDescription = Pick<RunningQuery, 'text' | 'database' | 'requires'>;

/** The sender of a query. */
export type QueryRequester = { readonly userName: string; readonly remoteAddress: string };

export type ListedQuery = {
  readonly id: number;
  readonly text: string;
  readonly database: string;
  readonly durationMs: number;
  readonly isKilled: boolean;
};

export type RunningQueriesOptions = {
  readonly clock: Clock;
  /** 0 is no limit. */
  readonly maxConcurrent: number;
  /** 0 is no limit. */
  readonly timeoutMs: number;
  readonly counters: QueryCounters;
  readonly memories: QueryMemories;
  /** Keeps the latest slow queries. */
  readonly slow: SlowQueries;
  /** Called for queries that took longer than `slowMs`; never if that is 0. */
  readonly slowMs: number;
  readonly onSlow: (query: ListedQuery) => void;
};

type Entry = {
  readonly query: RunningQuery;
  readonly memory: OpenMemory;
  readonly abort: AbortController;
  readonly requester: QueryRequester | undefined;
  /** The timer of the time limit, if there is one. */
  readonly timer: AbortController | undefined;
  readonly startedMs: number;
  isKilled: boolean;
};

export class RunningQueries {
  readonly #options: RunningQueriesOptions;
  readonly #entries = new Numbered<Entry>();
  #nextId = 1;
  #isClosing = false;

  constructor(options: RunningQueriesOptions) {
    this.#options = options;
  }

  /**
   * The memory that a query starts with, to be released after `finish`. Rejects with `Unavailable`
   * when none becomes free in time.
   */
  begin(holder: Holder): Part | Promise<Part> {
    return this.#options.memories.begin(holder);
  }

  get activeCount(): number {
    return this.#entries.count;
  }

  /** Registers a query; `finish` must be called with it. Throws when too many are running. */
  start(
    query: QueryDescription & {
      /** The holder that loses its part of the memory if it makes no progress. */
      readonly holder?: Holder | undefined;
      /** Absent for queries of the service itself. */
      readonly requester?: QueryRequester | undefined;
    },
  ): RunningQuery {
    const { clock, counters, maxConcurrent, memories, timeoutMs } = this.#options;
    if (this.#isClosing) throw new Cancelled(QUERY_SHUTDOWN);
    if (maxConcurrent > 0 && this.#entries.count >= maxConcurrent) {
      throw new LimitExceeded(
        `max-concurrent-queries limit exceeded(${this.#entries.count}, ${maxConcurrent})`,
        'coordinator.max-concurrent-queries',
      );
    }
    const abort = new AbortController();
    const timer = timeoutMs > 0 ? new AbortController() : undefined;
    const id = this.#nextId++;
    const { text, database, requires, holder, requester } = query;
    const memory = memories.open({
      progress: () => holder?.progress(),
      revoke: (error) => {
        abort.abort(error);
        holder?.revoke(error);
      },
    });
    const running = { id, text, database, requires, signal: abort.signal, memory };
    const startedMs = clock.monotonicMs();
    const ends = { memory, abort, timer };
    const entry = { query: running, requester, ...ends, startedMs, isKilled: false };
    this.#entries.add(id, entry);
    counters.queriesActive = this.#entries.count;
    counters.queriesExecuted++;
    if (timer !== undefined) {
      clock.sleep(timeoutMs, timer.signal).then(
        () => abort.abort(new LimitExceeded(QUERY_TIMEOUT, 'coordinator.query-timeout')),
        () => undefined, // Finished in time.
      );
    }
    return running;
  }

  /**
   * Registers a query for as long as work takes. Throws as `start` does, before the work begins.
   */
  async run<T>(query: QueryDescription, work: (running: RunningQuery) => Promise<T>): Promise<T> {
    const running = this.start(query);
    try {
      return await work(running);
    } finally {
      this.finish(running);
    }
  }

  finish(query: RunningQuery): void {
    const entry = this.#entries.take(query.id);
    if (entry === undefined) return;
    entry.timer?.abort('finished');
    entry.memory.close();
    const { counters, slow, slowMs, onSlow } = this.#options;
    const durationMs = this.#durationMs(entry);
    counters.queriesActive = this.#entries.count;
    counters.queriesFinished++;
    counters.queryDurationNs += Math.round(durationMs * 1e6);
    if (slowMs > 0 && durationMs >= slowMs) onSlow(this.#listed(entry));
    const { userName: user = '', remoteAddress: address = '' } = entry.requester ?? {};
    slow.note(durationMs, () => ({ ...this.#listed(entry), user, address }));
  }

  /** Ends a query because its client has gone. */
  cancel(query: RunningQuery): void {
    this.#entries.get(query.id)?.abort.abort(new Cancelled('the client closed the connection'));
  }

  /** KILL QUERY. */
  kill(id: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new NotFound(`no such query id: ${id}`);
    if (entry.isKilled) throw new InvalidRequest('already killed');
    entry.isKilled = true;
    entry.abort.abort(new Cancelled(QUERY_INTERRUPTED));
  }

  /** Slow queries that have ended. */
  get slow(): SlowQueries {
    return this.#options.slow;
  }

  /** The visible queries. */
  list(isVisible: (requires: readonly Requirement[]) => boolean): readonly ListedQuery[] {
    return this.#entries
      .values()
      .toSorted((a, b) => a.query.id - b.query.id)
      .filter(({ query }) => isVisible(query.requires()))
      .map((entry) => this.#listed(entry));
  }

  #listed(entry: Entry): ListedQuery {
    const { id, text, database } = entry.query;
    const durationMs = this.#durationMs(entry);
    return { id, text: text(), database, durationMs, isKilled: entry.isKilled };
  }

  #durationMs({ startedMs }: Entry): number {
    return this.#options.clock.monotonicMs() - startedMs;
  }

  /** Ends all queries and refuses new ones. */
  close(): void {
    this.#isClosing = true;
    for (const { abort } of this.#entries.values()) abort.abort(new Cancelled(QUERY_SHUTDOWN));
  }
}
