// Serialises changes: changes of one item run one after another, and a change of everything runs
// alone.

/** Changes wait in the order of their requests; a failed one does not block the next. */
export class ChangeLock {
  /** Ends of the last change of each id, while it is in progress. */
  readonly #ones = new Map<string, Promise<void>>();
  #whole: Promise<void> = Promise.resolve();

  /** Runs `work` after all earlier changes of the same id, and of everything. */
  async one<T>(id: string, work: () => Promise<T>): Promise<T> {
    const result = Promise.all([this.#whole, this.#ones.get(id)]).then(work);
    const end = endOf(result);
    this.#ones.set(id, end);
    try {
      return await result;
    } finally {
      if (this.#ones.get(id) === end) this.#ones.delete(id);
    }
  }

  /**
   * Runs `work` after all earlier changes and before all later ones. It must not call `one` or
   * `whole` itself.
   */
  whole<T>(work: () => Promise<T>): Promise<T> {
    const result = Promise.all([this.#whole, ...this.#ones.values()]).then(work);
    this.#whole = endOf(result);
    return result;
  }
}

// The caller gets the error; the next change only waits for the end.
function endOf(work: Promise<unknown>): Promise<void> {
  return work.then(
    () => undefined,
    () => undefined,
  );
}
