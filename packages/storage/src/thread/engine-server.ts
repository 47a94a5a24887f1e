// Executes the requests that come over a port on one engine of the thread.
import type { MessagePort } from 'node:worker_threads';

import { assert } from '@tidemark/core';
import type { WriteOutcome } from '@tidemark/storage-api';

import { threadHeap } from '../columns/thread-heap.ts';
import type { Engine } from '../engine/engine.ts';
import type { SchemaVersions } from '../series/schema-version.ts';
import { byteStreams } from './byte-streams.ts';
import { HeldPlans } from './carried-plans.ts';
import { errorToMessage } from './errors.ts';
import { Outbox } from './outbox.ts';
import type { CallMessage, FromEngine, ToThread } from './protocol.ts';
import { ReadServer } from './read-server.ts';
import { CALLS } from './requests.ts';
import { isPlain, packOutcomes, unpackWrites } from './small-writes.ts';
import type { SmallOutcome, SmallWrite } from './small-writes.ts';

export type EngineServerOptions = {
  readonly engine: Engine;
  readonly port: MessagePort;
  readonly versions: SchemaVersions;
  /** Ends the thread if an assertion has failed. */
  readonly endIfBroken: (error: unknown) => void;
  /** Opens another engine, which is served over a port. */
  readonly openRehearsal: (port: MessagePort) => Promise<void>;
  /** Called when the engine is being closed. */
  readonly onClose?: (() => void) | undefined;
};

type Methods = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
type Unpack = ((...packed: readonly unknown[]) => readonly unknown[]) | undefined;

/** Serves the engine as long as the port is open. */
export function serveEngine(options: EngineServerOptions): void {
  const server = new EngineServer(options);
  options.port.on('message', (messages: readonly ToThread[]) => {
    for (const message of messages) server.handle(message);
  });
}

class EngineServer {
  readonly #options: EngineServerOptions;
  readonly #targets: { readonly engine: Methods; readonly byteStreams: Methods };
  readonly #reads: ReadServer;
  readonly #outbox: Outbox<FromEngine | SmallOutcome>;
  /** Requests that wait for an answer. */
  #open = 0;

  constructor(options: EngineServerOptions) {
    const { engine, port, versions } = options;
    this.#options = options;
    // `CALLS` names nothing but their methods.
    this.#targets = {
      engine: engine as unknown as Methods,
      byteStreams: byteStreams(engine) as unknown as Methods,
    };
    this.#outbox = new Outbox((messages, transfer) =>
      port.postMessage(packOutcomes<FromEngine>(messages), transfer),
    );
    this.#reads = new ReadServer({
      source: engine.source,
      shards: () => engine.shards(),
      plans: new HeldPlans(),
      versions,
      begin: () => this.#open++,
      answer: (message, transfer) => this.#answer(message, transfer),
      fail: (id, error) => this.#fail(id, error),
      abandon: () => this.#open--,
      ask: (message) => this.#outbox.send(message),
    });
  }

  handle(message: ToThread): void {
    switch (message.kind) {
      case 'call':
        this.#call(message);
        break;
      case 'small-writes':
        this.#write([...unpackWrites(message)]);
        break;
      case 'read':
        this.#reads.open(message);
        break;
      case 'signal':
        this.#reads.signal(message);
        break;
      case 'release':
        this.#reads.release(message.snapshot);
        break;
      case 'open-rehearsal':
        this.#settle(message.id, this.#options.openRehearsal(message.port));
        break;
    }
  }

  #call({ id, name, args, lent }: CallMessage): void {
    if (name === 'close') this.#options.onClose?.();
    const row = CALLS[name];
    const method = this.#targets[row.of][name];
    assert(method !== undefined, 'every call has a method');
    const unpacked = (row.unpack as Unpack)?.(...args) ?? args;
    this.#settle(id, method.apply(this.#targets[row.of], [...unpacked]), lent);
  }

  #write(writes: readonly Omit<SmallWrite, 'kind'>[]): void {
    this.#open += writes.length;
    let outcomes: readonly Promise<WriteOutcome>[];
    try {
      outcomes = this.#options.engine.writeTogether(writes.map(({ request }) => request));
    } catch (error) {
      for (const { id } of writes) this.#fail(id, error);
      return;
    }
    for (const [i, { id }] of writes.entries()) {
      outcomes[i]!.then(
        (outcome) =>
          this.#answer(
            isPlain(outcome)
              ? { kind: 'written', id, outcome }
              : { kind: 'result', id, value: outcome },
          ),
        (error: unknown) => this.#fail(id, error),
      );
    }
  }

  /** Sends the result of a call. `lent` goes back with it; an error does not return it. */
  #settle(id: number, work: Promise<unknown>, lent?: ArrayBuffer): void {
    this.#open++;
    work.then(
      (value) => {
        if (lent === undefined) this.#answer({ kind: 'result', id, value });
        else this.#answer({ kind: 'result', id, value, lent }, [lent]);
        // Portions of backups.
        if (value instanceof Uint8Array) threadHeap.made(value.length);
      },
      (error: unknown) => this.#fail(id, error),
    );
  }

  /**
   * Sends an answer with others of its turn: writes of a group become durable together, and queries
   * of many clients are answered one after another.
   */
  #answer(message: FromEngine | SmallOutcome, transfer: readonly ArrayBuffer[] = []): void {
    this.#open--;
    // The last one has nothing to wait for.
    if (this.#open === 0) this.#outbox.send(message, transfer);
    else this.#outbox.sendSoon(message, transfer);
    if (message.kind === 'batches') threadHeap.made(message.sizeBytes);
  }

  #fail(id: number, error: unknown): void {
    this.#options.endIfBroken(error);
    this.#answer({ kind: 'failed', id, error: errorToMessage(error) });
  }
}
