// Dead letters: events that could not be delivered, to be listed, retried or dropped.
import type { AlertStore, DeadLetter } from './alert-store.ts';
import type { Delivery } from './delivery.ts';

/** Selects dead letters; all by default. */
export type LetterChoice = {
  readonly sequences?: ReadonlySet<number> | undefined;
  readonly topic?: string | undefined;
  /** Id of the handler, without its topic. */
  readonly handler?: string | undefined;
};

export class DeadLetters {
  readonly #store: AlertStore;
  readonly #deliveryOf: (handlerKey: string) => Delivery | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `deliveryOf` finds the handler of a letter, if it still exists. */
  constructor(store: AlertStore, deliveryOf: (handlerKey: string) => Delivery | undefined) {
    this.#store = store;
    this.#deliveryOf = deliveryOf;
  }

  get count(): number {
    return this.#store.letterCount;
  }

  /** Newest first. */
  *list(choice: LetterChoice): Iterable<DeadLetter> {
    for (const letter of this.#store.deadLetters()) if (isChosen(letter, choice)) yield letter;
  }

  /**
   * Appends letters to the outboxes of their handlers, the oldest first. Letters whose handler is
   * gone or whose outbox is full stay. Resolves with the number of requeued letters once they are
   * on disk.
   */
  requeue(choice: LetterChoice): Promise<number> {
    return this.#next(() => this.#requeue(choice));
  }

  /** Deletes letters; resolves with their number. */
  drop(choice: LetterChoice): Promise<number> {
    return this.#next(() => this.#drop(choice));
  }

  // One after another: a letter only leaves the list when it is removed from disk.
  #next(work: () => Promise<number>): Promise<number> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #requeue(choice: LetterChoice): Promise<number> {
    const stored: Promise<void>[] = [];
    for (const letter of [...this.list(choice)].reverse()) {
      const delivery = this.#deliveryOf(letter.handlerKey);
      if (delivery?.admits(letter.event) !== true) continue;
      const requeued = this.#store.requeue(letter);
      delivery.accept(requeued.entry, requeued.stored);
      stored.push(requeued.stored);
    }
    await Promise.all(stored);
    return stored.length;
  }

  async #drop(choice: LetterChoice): Promise<number> {
    const sequences = [...this.list(choice)].map(({ sequence }) => sequence);
    if (sequences.length > 0) await this.#store.removeLetters(sequences);
    return sequences.length;
  }
}

function isChosen(letter: DeadLetter, { sequences, topic, handler }: LetterChoice): boolean {
  if (sequences?.has(letter.sequence) === false) return false;
  if (topic !== undefined && letter.event.topic !== topic) return false;
  return handler === undefined || handlerIdOf(letter) === handler;
}

/** The id of a letter's handler within its topic. */
export function handlerIdOf({ handlerKey }: DeadLetter): string {
  return handlerKey.slice(handlerKey.indexOf(' ') + 1);
}
