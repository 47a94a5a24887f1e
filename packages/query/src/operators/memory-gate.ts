// Where a query waits for memory. It may hold a little as it is; before it holds more it waits, at the next place where it
// gives way anyhow, until there is room for as much as its limit allows. So the few that need much come one after the other.
import type { QueryMemory } from '../context.ts';

export class MemoryGate {
  readonly #memory: QueryMemory | undefined;
  #isClosed = false;

  constructor(memory: QueryMemory | undefined) {
    this.#memory = memory;
  }

  /** `enter` has to be awaited before the query goes on. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The query holds so much now. */
  holds(bytes: number): void {
    const memory = this.#memory;
    if (memory !== undefined && !memory.isAdmitted && bytes > memory.freeBytes)
      this.#isClosed = true;
  }

  async enter(): Promise<void> {
    await this.#memory?.admit();
    this.#isClosed = false;
  }
}
