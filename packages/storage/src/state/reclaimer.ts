// Removes files that are no longer part of the state, once no open snapshot can read them.

type Retired = { readonly before: number; readonly remove: () => void };

export class Reclaimer {
  #next = 1;
  readonly #open = new Set<number>();
  #retired: Retired[] = [];

  /** Number of open snapshots. */
  get openCount(): number {
    return this.#open.size;
  }

  /** Files waiting to be removed. */
  get waitingCount(): number {
    return this.#retired.length;
  }

  /** Begins a read. The returned function ends it; call it once. */
  enter(): () => void {
    const id = this.#next++;
    this.#open.add(id);
    return () => {
      if (this.#open.delete(id)) this.#collect();
    };
  }

  /** Calls `remove` when all reads that are open now have ended. */
  retire(remove: () => void): void {
    this.#retired.push({ before: this.#next, remove });
    this.#collect();
  }

  /** Removes everything that waits, when there are no more reads. */
  drain(): void {
    this.#open.clear();
    this.#collect();
  }

  #collect(): void {
    // Ids ascend, and a Set keeps the order of insertion: its first element is the oldest read.
    const [oldest = Number.POSITIVE_INFINITY] = this.#open;
    const waiting: Retired[] = [];
    for (const retired of this.#retired) {
      if (retired.before <= oldest) retired.remove();
      else waiting.push(retired);
    }
    this.#retired = waiting;
  }
}
