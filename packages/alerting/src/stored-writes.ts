// Follows writes that nobody awaits: what is to be done when they are on disk, and when all of them are.

/** Writes end in order, so the last one stands for all before it; those of one turn share their promise. */
export class StoredWrites {
  readonly #onFailure: (error: unknown) => void;
  /** The write that is followed last, what is to be done when it is on disk, and the end of that. */
  #followed: Promise<void> | undefined;
  #onStored: (() => void)[] = [];
  #stored: Promise<void> | undefined;

  /** `onFailure` is told once per failed write. */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** Follows a write; `onStored` is called when it is on disk. */
  keep(write: Promise<void>, onStored?: () => void): void {
    if (write !== this.#followed) this.#follow(write);
    if (onStored !== undefined) this.#onStored.push(onStored);
  }

  /** Resolves when everything that was followed is on disk; `undefined` when it is already. */
  get stored(): Promise<void> | undefined {
    return this.#stored;
  }

  #follow(write: Promise<void>): void {
    const onStored: (() => void)[] = [];
    this.#followed = write;
    this.#onStored = onStored;
    const ended = write
      .then(() => {
        for (const settle of onStored) settle();
      }, this.#onFailure)
      .then(() => {
        if (this.#followed === write) this.#stored = undefined;
      });
    this.#stored = ended;
  }
}
