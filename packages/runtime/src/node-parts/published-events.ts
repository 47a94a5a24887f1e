// Recognises events of one group that were published before a crash, when later points are
// processed again. Only the last of these events is known, from the state of its topic.

export type PublishedEvent = {
  readonly level: number;
  readonly time: bigint;
  readonly durationNanos: bigint;
  /** As in `RememberedState`. */
  readonly record?: number | undefined;
};

export class PublishedEvents {
  readonly #last: PublishedEvent;
  /** Level of the last event that was recognised. */
  #reached: number | undefined;
  /** The last published event has occurred again. */
  #isPassed = false;

  constructor(last: PublishedEvent) {
    this.#last = last;
  }

  /**
   * Whether an event was published; called for all events of the group in their order, until one
   * was not.
   */
  includes(event: {
    readonly level: number;
    readonly time: bigint;
    readonly isChanged: boolean;
  }): boolean {
    const { level, time, isChanged } = event;
    if (this.#isPassed) return false;
    if (time <= this.#last.time) {
      this.#reached = level;
      // Of several events at one time, those up to the remembered level were published.
      this.#isPassed = time === this.#last.time && level === this.#last.level;
      return true;
    }
    this.#isPassed = true;
    // Timers need not fire at the same times again: the change to the published level comes a
    // little later.
    return this.#reached !== this.#last.level && isChanged && level === this.#last.level;
  }
}
