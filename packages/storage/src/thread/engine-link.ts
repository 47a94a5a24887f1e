// The connection to one engine of a storage thread: the one with the data, or the one used for the
// warm-up. Both use the same objects, so that code that V8 has compiled for one fits the other.
import { Unavailable } from '@tidemark/core';

import type { Connection, StreamHandler } from './connection.ts';
import type { SentPlans } from './carried-plans.ts';
import type { ToThread } from './protocol.ts';
import type { SchemaCache } from './schema-cache.ts';

export class EngineLink {
  readonly #connection: Connection;
  readonly #isRehearsal: boolean;
  /** Answers to schema look-ups of the engine. */
  readonly schemas: SchemaCache;
  /** Plans that the thread was sent. */
  readonly plans: SentPlans;

  constructor(
    connection: Connection,
    { schemas, isRehearsal }: { readonly schemas: SchemaCache; readonly isRehearsal: boolean },
  ) {
    this.#connection = connection;
    this.#isRehearsal = isRehearsal;
    this.schemas = schemas;
    this.plans = connection.plans;
  }

  nextId(): number {
    return this.#connection.nextId();
  }

  post(message: ToThread): void {
    this.#connection.post(this.#addressed(message));
  }

  postLater(message: ToThread): void {
    this.#connection.postLater(this.#addressed(message));
  }

  stream(handler: StreamHandler, make: (id: number) => ToThread): number {
    return this.#connection.stream(handler, (id) => this.#addressed(make(id)));
  }

  cancel(id: number): void {
    this.#connection.cancel(id);
  }

  call(make: (id: number) => ToThread, transfer: readonly ArrayBuffer[] = []): Promise<unknown> {
    return this.#connection.call((id) => this.#addressed(make(id)), transfer);
  }

  #addressed(message: ToThread): ToThread {
    return this.#isRehearsal ? { kind: 'rehearsal', message } : message;
  }
}

/** The present link to an engine: a thread that fails is replaced. */
export class LinkHolder {
  #link: EngineLink | undefined;
  #isClosed = false;

  /** Throws `Unavailable` while there is none. */
  get link(): EngineLink {
    if (this.#isClosed) throw new Unavailable('storage is closed');
    if (this.#link === undefined) throw new Unavailable('storage is restarting');
    return this.#link;
  }

  replace(link: EngineLink | undefined): void {
    this.#link = link;
  }

  close(): void {
    this.#isClosed = true;
  }
}
