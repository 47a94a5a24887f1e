// Memory of all queries together, in all threads, in two budgets: every query takes a small amount
// of the first before it begins, so that small ones never wait for large ones. Those that need more
// take a part of the second, which grows in steps with the query. A query that holds a part of one
// waits only for the other, and in that for the oldest query at most: there is no deadlock.
import { Budget } from '@tidemark/core';
import type { Clock, Holder, Part } from '@tidemark/core';
import { HeapWatch, MUCH_BYTES } from '@tidemark/process';
import type { QueryMemory, SourceMemory } from '@tidemark/query';

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
/** What a query gets beyond what it needs, as a share of that, so that it asks rarely. */
const STEP_SHARE = 1 / 4;
/** The smallest step, and what steps are multiples of. */
const STEP_BYTES = 4 << 20;
/** The share of the first budget. */
const BEGINNINGS_SHARE = 1 / 4;
/** The most that one query gets of the whole: others find room beside the largest. */
const QUERY_SHARE_MAX = 1 / 2;
/**
 * Memory that is granted to a request of the source besides what it needs, so that it asks rarely:
 * a question takes a message to another thread and one back.
 */
const AHEAD_BYTES = 1 << 20;
/** Garbage besides the memory of queries: collecting 256 MiB of texts takes some 20 ms. */
const HEAP_GROWTH_BYTES = 64 << 20;

export class QueryMemories {
  readonly beginnings: Budget;
  /** What queries hold beyond their beginnings. */
  readonly growth: Budget;
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
    const mostBytes = Math.floor(totalBytes * QUERY_SHARE_MAX);
    if (totalBytes === 0) this.limitBytes = limitBytes;
    else this.limitBytes = limitBytes === 0 ? mostBytes : Math.min(limitBytes, mostBytes);
    this.beginnings = new Budget({ ...common, limitBytes: beginningsBytes });
    this.growth = new Budget({
      ...common,
      limitBytes: totalBytes - beginningsBytes,
      grownBytesMax: this.limitBytes,
    });
  }

  /**
   * The memory that a query starts with. Rejects with `Unavailable` when none becomes free in time.
   */
  begin(holder: Holder): Part | Promise<Part> {
    return this.beginnings.take(BEGINNING_BYTES, holder);
  }

  /** The size of the part of a query that needs this much. */
  stepTo(neededBytes: number): number {
    const ahead = neededBytes * (1 + STEP_SHARE);
    const stepped = Math.ceil(ahead / STEP_BYTES) * STEP_BYTES;
    return this.limitBytes === 0 ? stepped : Math.min(stepped, this.limitBytes);
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
  #part: Part | undefined;
  #allowedBytes = BEGINNING_BYTES;
  #taking: Promise<void> | undefined;
  #isClosed = false;
  /** Memory of the operators, and what is granted to requests of the source. */
  #heldBytes = 0;
  #sourceBytes = 0;
  #mostBytes = 0;

  constructor(memories: QueryMemories, holder: Holder) {
    this.#memories = memories;
    this.#holder = holder;
  }

  get isAsking(): boolean {
    return !this.#isClosed && this.#neededBytes > this.#allowedBytes;
  }

  get #neededBytes(): number {
    return this.#heldBytes + this.#sourceBytes;
  }

  holds(sizeBytes: number): void {
    if (this.#isClosed) return;
    const added = sizeBytes - this.#heldBytes;
    this.#heldBytes = sizeBytes;
    if (added > 0) this.#memories.heap.hold(added);
    else this.#memories.heap.letGo(-added);
    this.#mostBytes = Math.max(this.#mostBytes, sizeBytes);
  }

  openSource(): SourceMemory {
    let grantedBytes = 0;
    const grant = (sizeBytes: number): void => {
      this.#sourceBytes += sizeBytes - grantedBytes;
      grantedBytes = sizeBytes;
    };
    // Half of what is left: a query may have many requests at once.
    const ahead = (): number =>
      Math.max(0, Math.min(AHEAD_BYTES, (this.#allowedBytes - this.#neededBytes) / 2));
    grant(ahead());
    return {
      get grantedBytes() {
        return grantedBytes;
      },
      ask: async (sizeBytes) => {
        grant(sizeBytes);
        await this.admit();
        grant(sizeBytes + ahead());
      },
      release: () => grant(0),
    };
  }

  /** Batches of many queries at once outlive the young generation, which collects alone. */
  received(sizeBytes: number): void {
    this.#memories.heap.made(sizeBytes);
  }

  async admit(): Promise<void> {
    while (this.isAsking) await (this.#taking ??= this.#take());
  }

  async #take(): Promise<void> {
    const { growth, limitBytes } = this.#memories;
    const wantedBytes = this.#memories.stepTo(this.#neededBytes);
    try {
      if (this.#part === undefined) {
        const part = await growth.take(wantedBytes, this.#holder);
        if (this.#isClosed) {
          part.release();
          return;
        }
        this.#part = part;
      } else await this.#part.grow(wantedBytes);
      // At the maximum its operators and each of its requests keep to the limit of a query.
      this.#allowedBytes = wantedBytes === limitBytes ? Infinity : wantedBytes;
    } finally {
      this.#taking = undefined;
    }
  }

  /** Releases everything, including a part that is still awaited. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#memories.heap.letGo(this.#heldBytes);
    if (this.#part !== undefined) this.#release(this.#part);
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
      const { heap, growth } = this.#memories;
      if (growth.waitingCount > 0) heap.collect();
      else heap.release();
      part.release();
    });
  }
}
