// Memory of all queries together, in two budgets: every query takes a small amount of the first
// before it begins, and the few that need more take their maximum from the second. A query that
// holds a part of the first waits for the second, never the other way round, so there is no
// deadlock.
import { Budget } from '@tidemark/core';
import type { Clock, Holder, Part } from '@tidemark/core';
import { HeapWatch, MUCH_BYTES } from '@tidemark/process';
import type { QueryMemory } from '@tidemark/query';

export type QueryMemoryOptions = {
  /** 0 is no limit. */
  readonly totalBytes: number;
  /** Limit of one query; 0 is no limit. */
  readonly limitBytes: number;
  readonly waitMs: number;
  readonly clock: Clock;
  /** The heap of the queries' thread. */
  readonly heap?: HeapWatch;
};

/** Memory that a query may use from its first part: dashboards need less. */
const BEGINNING_BYTES = 2 << 20;
/** The share of the first budget. */
const BEGINNINGS_SHARE = 1 / 4;
/** Garbage besides the memory of queries: collecting 256 MiB of texts takes some 20 ms. */
const HEAP_GROWTH_BYTES = 64 << 20;
export class QueryMemories {
  readonly beginnings: Budget;
  readonly large: Budget;
  /** Maximum memory of one query; 0 is no limit. */
  readonly limitBytes: number;
  readonly heap: HeapWatch;

  constructor({
    totalBytes,
    limitBytes,
    waitMs,
    clock,
    heap = new HeapWatch(HEAP_GROWTH_BYTES),
  }: QueryMemoryOptions) {
    this.heap = heap;
    const setting = 'coordinator.total-query-memory-limit';
    const common = { setting, waitMs, clock, what: 'queries' };
    const beginningsBytes = Math.floor(totalBytes * BEGINNINGS_SHARE);
    const largeBytes = totalBytes - beginningsBytes;
    this.beginnings = new Budget({ ...common, limitBytes: beginningsBytes });
    this.large = new Budget({ ...common, limitBytes: largeBytes });
    if (totalBytes === 0) this.limitBytes = limitBytes;
    else this.limitBytes = limitBytes === 0 ? largeBytes : Math.min(limitBytes, largeBytes);
  }

  /**
   * The memory that a query starts with. Rejects with `Unavailable` when none becomes free in time.
   */
  begin(holder: Holder): Part | Promise<Part> {
    return this.beginnings.take(BEGINNING_BYTES, holder);
  }

  /** The memory of one query, which has begun. */
  open(holder: Holder): OpenMemory {
    return new OpenMemory(this, holder);
  }
}

/** The memory of one query, which may consist of several statements. */
export class OpenMemory implements QueryMemory {
  readonly #memories: QueryMemories;
  readonly #holder: Holder;
  #part: Promise<Part> | undefined;
  #isAdmitted = false;
  #isAsking = false;
  #isClosed = false;
  #heldBytes = 0;
  #mostBytes = 0;

  constructor(memories: QueryMemories, holder: Holder) {
    this.#memories = memories;
    this.#holder = holder;
  }

  get isAsking(): boolean {
    return this.#isAsking;
  }

  holds(sizeBytes: number): void {
    if (this.#isClosed) return;
    if (sizeBytes > BEGINNING_BYTES) this.#isAsking = !this.#isAdmitted;
    const added = sizeBytes - this.#heldBytes;
    this.#heldBytes = sizeBytes;
    if (sizeBytes > this.#mostBytes) this.#mostBytes = sizeBytes;
    if (added > 0) this.#memories.heap.hold(added);
    else this.#memories.heap.letGo(-added);
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

  /** Releases everything, including parts that are still awaited. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#memories.heap.letGo(this.#heldBytes);
    this.#heldBytes = 0;
    // A part that was never granted need not be released.
    this.#part?.then(
      (part) => this.#release(part),
      () => undefined,
    );
  }

  /**
   * The waiting query gets the part when the memory is free: the operators still hold their rows.
   */
  #release(part: Part): void {
    if (this.#mostBytes < MUCH_BYTES) {
      part.release();
      return;
    }
    setImmediate(() => {
      const { heap, large } = this.#memories;
      if (large.waitingCount > 0) heap.collect();
      else heap.release();
      part.release();
    });
  }
}
