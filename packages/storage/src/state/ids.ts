// Numbers that are assigned once: ids of files, sequence numbers of writes, and instances of
// databases.

/** The next numbers, as the manifest stores them. */
export type NextIds = {
  readonly nextFileId: number;
  readonly nextSequence: number;
  readonly nextInstance: number;
};

export class Ids {
  #nextFileId = 1;
  #nextSequence = 1;
  #nextInstance = 1;

  takeFileId(): number {
    return this.#nextFileId++;
  }

  /** The order of segments and tombstones by the time of their writes. */
  takeSequence(): number {
    return this.#nextSequence++;
  }

  /** For databases, and for the files of their indexes. */
  takeInstance(): number {
    return this.#nextInstance++;
  }

  /** Marks all smaller numbers as taken. */
  reserve({ nextFileId = 0, nextSequence = 0, nextInstance = 0 }: Partial<NextIds>): void {
    this.#nextFileId = Math.max(this.#nextFileId, nextFileId);
    this.#nextSequence = Math.max(this.#nextSequence, nextSequence);
    this.#nextInstance = Math.max(this.#nextInstance, nextInstance);
  }

  get next(): NextIds {
    return {
      nextFileId: this.#nextFileId,
      nextSequence: this.#nextSequence,
      nextInstance: this.#nextInstance,
    };
  }
}
