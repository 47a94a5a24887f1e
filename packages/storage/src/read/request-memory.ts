// What one request holds at once, against its limit.
import { LimitExceeded } from '@tidemark/core';

import { LIMITS } from '../limits.ts';

export class RequestMemory {
  readonly limitBytes: number;
  #heldBytes = 0;

  constructor(limitBytes: number | undefined) {
    this.limitBytes = limitBytes ?? LIMITS.requestMemoryBytes.value;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Counts what stays until the request ends. Throws `LimitExceeded` when it is too much. */
  hold(sizeBytes: number, what: string): void {
    this.check(sizeBytes, what);
    this.#heldBytes += sizeBytes;
  }

  /** Whether that much more may be used for a while. Throws `LimitExceeded` when not. */
  check(sizeBytes: number, what: string): void {
    if (this.#heldBytes + sizeBytes <= this.limitBytes) return;
    const { setting } = LIMITS.requestMemoryBytes;
    const wanted = this.#heldBytes + sizeBytes;
    throw new LimitExceeded(
      `${what} need more memory than allowed. neededBytes=${wanted} limitBytes=${this.limitBytes} setting=\`${setting}\``,
      setting,
    );
  }
}
