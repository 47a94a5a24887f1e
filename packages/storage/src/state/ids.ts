// Numbers that are given out once: of files, of the order of writes, of databases.

/** The next ones of a manifest. */
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

  /** Orders segments and tombstones by the time of their writes. */
  takeSequence(): number {
    return this.#nextSequence++;
  }

  /** Of databases, and of the files of their indexes. */
  takeInstance(): number {
    return this.#nextInstance++;
  }

  /** Ids below these are taken. */
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
