// Removes files that are no longer part of the state, once nobody can read them: reads hold leases.

type Retired = { readonly before: number; readonly remove: () => void };

/** The files that are part of the state now stay until it ends. */
export type Lease = {
  /** Ascends with the time of the lease. */
  readonly number: number;
  /** Ends the lease of this holder. Idempotent. */
  readonly release: () => void;
};

export class Reclaimer {
  #next = 1;
  /** The number of holders of each lease, by its number. */
  readonly #open = new Map<number, number>();
  #retired: Retired[] = [];

  /** Number of open leases. */
  get openCount(): number {
    return this.#open.size;
  }

  /** Files waiting to be removed. */
  get waitingCount(): number {
    return this.#retired.length;
  }

  /** Begins a lease. */
  enter(): Lease {
    return this.#hold(this.#next++);
  }

  /** Another holder of a lease that has not ended: it lasts until all of them have released it. */
  share(lease: number): Lease {
    return this.#hold(lease);
  }

  #hold(number: number): Lease {
    this.#open.set(number, (this.#open.get(number) ?? 0) + 1);
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      const holders = this.#open.get(number);
      // After `drain` there is none.
      if (holders === undefined) return;
      if (holders > 1) this.#open.set(number, holders - 1);
      else {
        this.#open.delete(number);
        this.#collect();
      }
    };
    return { number, release };
  }

  /** Calls `remove` when all leases that are open now have ended. */
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
    // Numbers ascend, and a Map keeps the order of insertion: its first key is the oldest lease.
    const [oldest = Number.POSITIVE_INFINITY] = this.#open.keys();
    const waiting: Retired[] = [];
    for (const retired of this.#retired) {
      if (retired.before <= oldest) retired.remove();
      else waiting.push(retired);
    }
    this.#retired = waiting;
  }
}
