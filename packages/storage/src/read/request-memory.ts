// Counts the memory of a request against its limit, and asks the query for it: the queries of a
// process share one total.
import { LimitExceeded } from '@tidemark/core';
import { MUCH_BYTES } from '@tidemark/process';
import type { RequestOptions, SourceMemory, Steps } from '@tidemark/query';

import { threadHeap } from '../columns/thread-heap.ts';
import { LIMITS } from '../limits.ts';

/** The memory that all requests of an engine hold. */
export class MemoryTotal {
  #heldBytes = 0;

  get heldBytes(): number {
    return this.#heldBytes;
  }

  add(sizeBytes: number): void {
    this.#heldBytes += sizeBytes;
    threadHeap.hold(sizeBytes);
  }

  remove(sizeBytes: number): void {
    this.#heldBytes -= sizeBytes;
    threadHeap.letGo(sizeBytes);
  }
}

export class RequestMemory {
  readonly limitBytes: number;
  readonly #total: MemoryTotal;
  readonly #query: RequestOptions['memory'];
  /** The part of the query's memory, once the request works. */
  #granted: SourceMemory | undefined;
  #heldBytes = 0;
  /**
   * The largest size of each temporary use. It counts until the request ends, because the end of a
   * use is not reported.
   */
  readonly #used = new Map<string, number>();
  #countedBytes = 0;

  /** Without `query` the request may hold all that its limit allows. */
  constructor(
    limitBytes: number | undefined,
    total: MemoryTotal,
    query?: RequestOptions['memory'],
  ) {
    this.limitBytes = limitBytes ?? LIMITS.requestMemoryBytes.value;
    this.#total = total;
    this.#query = query;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Counts memory that the request keeps to its end. Throws `LimitExceeded` when it is too much.
   */
  hold(sizeBytes: number, what: string): void {
    this.#limit(sizeBytes, what);
    this.#count(sizeBytes);
    this.#heldBytes += sizeBytes;
  }

  /**
   * Counts memory that the request uses temporarily. Throws `LimitExceeded` when it is too much.
   */
  check(sizeBytes: number, what: string): void {
    this.#limit(sizeBytes, what);
    const known = this.#used.get(what) ?? 0;
    if (sizeBytes <= known) return;
    this.#count(sizeBytes - known);
    this.#used.set(what, sizeBytes);
  }

  /** Whether the request holds more than it was granted: it has to `admit` before it goes on. */
  get isAsking(): boolean {
    const granted = (this.#granted ??= this.#query?.openSource());
    return granted !== undefined && this.#countedBytes > granted.grantedBytes;
  }

  /** Waits until the request may hold what it holds. Throws when that is refused. */
  *admit(): Steps<void> {
    let refusal: { readonly error: unknown } | undefined;
    // Pauses never reject.
    yield this.admitted().catch((error: unknown) => {
      refusal = { error };
    });
    if (refusal !== undefined) throw refusal.error;
  }

  /** Resolves when the request may hold what it holds; rejects when that is refused. */
  async admitted(): Promise<void> {
    if (this.isAsking) await this.#granted?.ask(this.#countedBytes);
  }

  /** Call it when the request ends. Idempotent. */
  end(): void {
    this.#granted?.release();
    this.startOver();
  }

  /** Nothing of what was counted is held any more, as between two measurements of a request. */
  startOver(): void {
    this.#total.remove(this.#countedBytes);
    const hadMuch = this.#countedBytes > MUCH_BYTES;
    this.#countedBytes = 0;
    this.#heldBytes = 0;
    this.#used.clear();
    // The reader still refers to the last rows. The last of many at once releases for all.
    if (hadMuch && this.#total.heldBytes < MUCH_BYTES) setImmediate(() => threadHeap.release());
  }

  #limit(sizeBytes: number, what: string): void {
    const wanted = this.#heldBytes + sizeBytes;
    if (wanted <= this.limitBytes) return;
    const { setting } = LIMITS.requestMemoryBytes;
    throw new LimitExceeded(
      `${what} need more memory than allowed for a query. neededBytes=${wanted} limitBytes=${this.limitBytes} setting=\`${setting}\``,
      setting,
    );
  }

  #count(sizeBytes: number): void {
    this.#total.add(sizeBytes);
    this.#countedBytes += sizeBytes;
  }
}
