// Requests by client for /debug/requests: counted only while a request to it runs.

export type RequestCounts = { writes: number; queries: number };

/** Users and addresses of one watch. Without authentication, clients may make up names. */
const ENTRIES_MAX = 10_000;

export class RequestTracker {
  readonly #watches = new Set<Map<string, RequestCounts>>();

  /** Counts one request of a user (empty if unknown) from an address. */
  count(kind: keyof RequestCounts, userName: string, address: string): void {
    if (this.#watches.size === 0) return;
    const key = userName === '' ? address : `${userName}:${address}`;
    for (const watch of this.#watches) {
      const shown = watch.size < ENTRIES_MAX || watch.has(key) ? key : address;
      const counts = watch.get(shown) ?? { writes: 0, queries: 0 };
      counts[kind]++;
      watch.set(shown, counts);
    }
  }

  /** Counts until `during` ends, then returns the counts by user and address. */
  async watch(during: Promise<unknown>): Promise<ReadonlyMap<string, RequestCounts>> {
    const counts = new Map<string, RequestCounts>();
    this.#watches.add(counts);
    try {
      await during;
    } finally {
      this.#watches.delete(counts);
    }
    return counts;
  }
}
