// Messages to another thread. One that wakes it costs many times what another one in the same list
// does, so that those which need not go at once wait for others.
import type { Transferable } from 'node:worker_threads';

/** A list that has grown so long is delivered before its turn of the event loop ends. */
const MESSAGES_MAX = 16;
/** How long a message of `sendLater` waits for another one. */
const LATER_MS = 20;

export class Outbox<T> {
  readonly #deliver: (messages: T[], transfer: Transferable[]) => void;
  #messages: T[] = [];
  #transfer: Transferable[] = [];
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deliver: (messages: T[], transfer: Transferable[]) => void) {
    this.#deliver = deliver;
  }

  /** Delivers a message now, behind those that wait. */
  send(message: T, transfer: readonly Transferable[] = []): void {
    this.#add(message, transfer);
    this.flush();
  }

  /** Delivers a message with the others of this turn of the event loop. */
  sendSoon(message: T, transfer: readonly Transferable[] = []): void {
    this.#add(message, transfer);
    if (this.#messages.length >= MESSAGES_MAX) this.flush();
    else this.#immediate ??= setImmediate(() => this.flush());
  }

  /** Delivers a message with the next one, or after a short time. */
  sendLater(message: T): void {
    this.#add(message, []);
    this.#timer ??= setTimeout(() => this.flush(), LATER_MS).unref();
  }

  #add(message: T, transfer: readonly Transferable[]): void {
    this.#messages.push(message);
    for (const buffer of transfer) this.#transfer.push(buffer);
  }

  flush(): void {
    clearImmediate(this.#immediate);
    clearTimeout(this.#timer);
    this.#immediate = undefined;
    this.#timer = undefined;
    if (this.#messages.length === 0) return;
    const messages = this.#messages;
    const transfer = this.#transfer;
    this.#messages = [];
    this.#transfer = [];
    this.#deliver(messages, transfer);
  }

  /** Nobody is there any more who takes them. */
  clear(): void {
    this.#messages = [];
    this.#transfer = [];
    this.flush();
  }
}
