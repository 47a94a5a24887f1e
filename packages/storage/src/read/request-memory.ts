// What one request holds at once, against its limit and against what all requests may hold
// together.
import { LimitExceeded } from '@tidemark/core';

import { LIMITS } from '../limits.ts';

/** What all requests of an engine hold. */
export class MemoryTotal {
  /** 0 is no limit. */
  readonly limitBytes: number;
  heldBytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }
}

export class RequestMemory {
  readonly limitBytes: number;
  readonly #total: MemoryTotal;
  #heldBytes = 0;
  /**
   * The most that was used for a while, by what it was used for: it counts until the end, because
   * nobody says when it ends.
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

  /** Counts what stays until the request ends. Throws `LimitExceeded` when it is too much. */
  hold(sizeBytes: number, what: string): void {
    this.#limit(sizeBytes, what);
    this.#count(sizeBytes, what);
    this.#heldBytes += sizeBytes;
  }

  /** Whether that much more may be used for a while. Throws `LimitExceeded` when not. */
  check(sizeBytes: number, what: string): void {
    this.#limit(sizeBytes, what);
    const known = this.#used.get(what) ?? 0;
    if (sizeBytes <= known) return;
    this.#count(sizeBytes - known, what);
    this.#used.set(what, sizeBytes);
  }

  /** The request has ended. Idempotent. */
  end(): void {
    this.#total.heldBytes -= this.#countedBytes;
    this.#countedBytes = 0;
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
    this.#total.heldBytes += sizeBytes;
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
