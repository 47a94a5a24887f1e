// Counts the memory of a request, against its own limit and against the limit of all requests
// together.
import { LimitExceeded } from '@tidemark/core';
import { MUCH_BYTES } from '@tidemark/process';

import { threadHeap } from '../columns/thread-heap.ts';
import { LIMITS } from '../limits.ts';

/** The memory that all requests of an engine hold. */
export class MemoryTotal {
  /** 0 means no limit. */
  readonly limitBytes: number;
  #heldBytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

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
  #heldBytes = 0;
  /**
   * The largest size of each temporary use. It counts until the request ends, because the end of a
   * use is not reported.
   */
  readonly #used = new Map<string, number>();
  #countedBytes = 0;

  constructor(limitBytes: number | undefined, total: MemoryTotal) {
    this.limitBytes = limitBytes ?? LIMITS.requestMemoryBytes.value;
    this.#total = total;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Counts memory that the request keeps to its end. Throws `LimitExceeded` when it is too much.
   */
  hold(sizeBytes: number, what: string): void {
    this.#limit(sizeBytes, what);
    this.#count(sizeBytes, what);
    this.#heldBytes += sizeBytes;
  }

  /**
   * Counts memory that the request uses temporarily. Throws `LimitExceeded` when it is too much.
   */
  check(sizeBytes: number, what: string): void {
    this.#limit(sizeBytes, what);
    const known = this.#used.get(what) ?? 0;
    if (sizeBytes <= known) return;
    this.#count(sizeBytes - known, what);
    this.#used.set(what, sizeBytes);
  }

  /** Call it when the request ends. Idempotent. */
  end(): void {
    this.#total.remove(this.#countedBytes);
    const hadMuch = this.#countedBytes > MUCH_BYTES;
    this.#countedBytes = 0;
    // The reader still refers to the last rows. The last of many at once releases for all.
    if (hadMuch && this.#total.heldBytes < MUCH_BYTES) setImmediate(() => threadHeap.release());
  }

  #limit(sizeBytes: number, what: string): void {
    const wanted = this.#heldBytes + sizeBytes;
    if (wanted > this.limitBytes) {
      throw tooMuch(what, 'a query', {
        neededBytes: wanted,
        limitBytes: this.limitBytes,
        setting: LIMITS.requestMemoryBytes.setting,
      });
    }
  }

  #count(sizeBytes: number, what: string): void {
    const { limitBytes, heldBytes } = this.#total;
    if (limitBytes > 0 && heldBytes + sizeBytes > limitBytes) {
      throw tooMuch(what, 'all queries together', {
        neededBytes: heldBytes + sizeBytes,
        limitBytes,
        setting: LIMITS.totalRequestMemoryBytes.setting,
      });
    }
    this.#total.add(sizeBytes);
    this.#countedBytes += sizeBytes;
  }
}

function tooMuch(
  what: string,
  whose: string,
  {
    neededBytes,
    limitBytes,
    setting,
  }: { readonly neededBytes: number; readonly limitBytes: number; readonly setting: string },
): LimitExceeded {
  return new LimitExceeded(
    `${what} need more memory than allowed for ${whose}. neededBytes=${neededBytes} limitBytes=${limitBytes} setting=\`${setting}\``,
    setting,
  );
}
