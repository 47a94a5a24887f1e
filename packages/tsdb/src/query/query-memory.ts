// Memory of all queries together, in two budgets: every query takes a little of the first before it
// begins, and the few that need more take what they may hold at most of the second. Whoever holds a
// part of the first waits for the second and never the other way round, so that nobody waits for
// himself.
import { Budget } from '@tidemark/core';
import type { Clock, Holder, Part } from '@tidemark/core';
import type { QueryMemory } from '@tidemark/query';

export type QueryMemoryOptions = {
  /** 0 is no limit. */
  readonly totalBytes: number;
  /** Of one query; 0 is no limit. */
  readonly limitBytes: number;
  readonly waitMs: number;
  readonly clock: Clock;
};

/** What a query may hold with what it begins with: dashboards need less. */
const BEGINNING_BYTES = 2 << 20;
/** The share of the first budget. */
const BEGINNINGS_SHARE = 1 / 4;

export class QueryMemories {
  readonly beginnings: Budget;
  readonly large: Budget;
  /** What one query may hold at most; 0 is no limit. */
  readonly limitBytes: number;

  constructor({ totalBytes, limitBytes, waitMs, clock }: QueryMemoryOptions) {
    const setting = 'coordinator.total-query-memory-limit';
    const common = { setting, waitMs, clock, what: 'queries' };
    const beginningsBytes = Math.floor(totalBytes * BEGINNINGS_SHARE);
    const largeBytes = totalBytes - beginningsBytes;
    this.beginnings = new Budget({ ...common, limitBytes: beginningsBytes });
    this.large = new Budget({ ...common, limitBytes: largeBytes });
    if (totalBytes === 0) this.limitBytes = limitBytes;
    else this.limitBytes = limitBytes === 0 ? largeBytes : Math.min(limitBytes, largeBytes);
  }

  /** What a query begins with. Rejects with `Unavailable` when nobody gives any back in time. */
  begin(holder: Holder): Part | Promise<Part> {
    return this.beginnings.take(BEGINNING_BYTES, holder);
  }

  /** The memory of one query, which has begun. */
  open(holder: Holder): OpenMemory {
    return new OpenMemory(this, holder);
  }
}

/** Of one query, which may consist of several statements. */
export class OpenMemory implements QueryMemory {
  readonly freeBytes = BEGINNING_BYTES;
  readonly #memories: QueryMemories;
  readonly #holder: Holder;
  #part: Promise<Part> | undefined;
  #isAdmitted = false;
  #isAsking = false;
  #isClosed = false;

  constructor(memories: QueryMemories, holder: Holder) {
    this.#memories = memories;
    this.#holder = holder;
  }

  get isAsking(): boolean {
    return this.#isAsking;
  }

  ask(): void {
    this.#isAsking = !this.#isAdmitted;
  }

  async admit(): Promise<void> {
    const { large, limitBytes } = this.#memories;
    this.#part ??= Promise.resolve(large.take(limitBytes, this.#holder));
    try {
      const part = await this.#part;
      if (this.#isClosed) part.release();
      this.#isAdmitted = true;
      this.#isAsking = false;
    } catch (error) {
      this.#part = undefined;
      throw error;
    }
  }

  /** Gives everything back, also what is still waited for. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A part that never came has nothing to give back.
    this.#part?.then(
      (part) => part.release(),
      () => undefined,
    );
  }
}
