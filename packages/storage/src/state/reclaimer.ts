// Files that are no longer part of the state are removed when the last snapshot that may read them
// is closed.

type Retired = { readonly before: number; readonly remove: () => void };

export class Reclaimer {
  #next = 1;
  readonly #open = new Set<number>();
  #retired: Retired[] = [];

  /** Number of open snapshots. */
  get openCount(): number {
    return this.#open.size;
  }

  /** Files that wait for a snapshot to close. */
  get waitingCount(): number {
    return this.#retired.length;
  }

  /** A reader begins; the result ends it, once. */
  enter(): () => void {
    const id = this.#next++;
    this.#open.add(id);
    return () => {
      if (this.#open.delete(id)) this.#collect();
    };
  }

  /** `remove` runs when all readers that are open now are gone. */
  retire(remove: () => void): void {
    this.#retired.push({ before: this.#next, remove });
    this.#collect();
  }

  /** Runs everything that waits: nobody reads any more. */
  drain(): void {
    this.#open.clear();
    this.#collect();
  }

  #collect(): void {
    // Ids are given out in ascending order and a Set keeps insertion order: the first is the oldest
    // reader.
    const [oldest = Number.POSITIVE_INFINITY] = this.#open;
    const waiting: Retired[] = [];
    for (const retired of this.#retired) {
      if (retired.before <= oldest) retired.remove();
      else waiting.push(retired);
    }
    this.#retired = waiting;
  }
}
