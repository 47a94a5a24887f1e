// Executes the requests that come over a port on one engine of the thread.
import type { MessagePort } from 'node:worker_threads';

import { assert } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { WriteOutcome } from '@tidemark/storage-api';

import { threadHeap } from '../columns/thread-heap.ts';
import type { Engine } from '../engine/engine.ts';
import type { SchemaVersions } from '../series/schema-version.ts';
import { byteStreams } from './byte-streams.ts';
import { HeldPlans } from './carried-plans.ts';
import { errorToMessage } from './errors.ts';
import { GatheredWrites } from './gathered-writes.ts';
import { Outbox } from './outbox.ts';
import { isPlain, packOutcomes } from './packed-outcomes.ts';
import type { PlainOutcome } from './packed-outcomes.ts';
import type { CallMessage, FromEngine, ToThread } from './protocol.ts';
import { ReadServer } from './read-server.ts';
import { CALLS } from './requests.ts';
import { RingReader } from './write-ring.ts';
import type { SmallWrite } from './write-ring.ts';

export type EngineServerOptions = {
  readonly engine: Engine;
  readonly port: MessagePort;
  /** The memory of small writes (`write-ring.ts`). */
  readonly ring: SharedArrayBuffer;
  readonly clock: Clock;
  readonly versions: SchemaVersions;
  /** Ends the thread if an assertion has failed. */
  readonly endIfBroken: (error: unknown) => void;
  /** Opens another engine, which is served over a port. */
  readonly openRehearsal: (port: MessagePort, ring: SharedArrayBuffer) => Promise<void>;
  /** Called when the engine is being closed. */
  readonly onClose?: (() => void) | undefined;
};

type Methods = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
type Unpack = ((...packed: readonly unknown[]) => readonly unknown[]) | undefined;
type PackResult = ((value: unknown) => unknown) | undefined;

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
  readonly #writes: GatheredWrites;
  readonly #outbox: Outbox<FromEngine | PlainOutcome>;
  /** Requests that wait for an answer. */
  #open = 0;

  constructor(options: EngineServerOptions) {
    const { clock, engine, port, ring, versions } = options;
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
    this.#writes = new GatheredWrites({
      ring: new RingReader(ring),
      clock,
      make: (writes, onDone) => this.#write(writes, onDone),
    });
  }

  handle(message: ToThread): void {
    switch (message.kind) {
      case 'call':
        this.#call(message);
        break;
      case 'writes':
        this.#writes.take();
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
        this.#settle(message.id, this.#options.openRehearsal(message.port, message.ring));
        break;
    }
  }

  #call({ id, name, args, lent }: CallMessage): void {
    if (name === 'close') {
      // They came first.
      this.#writes.take();
      this.#options.onClose?.();
    }
    const row = CALLS[name];
    const method = this.#targets[row.of][name];
    assert(method !== undefined, 'every call has a method');
    const unpacked = (row.unpack as Unpack)?.(...args) ?? args;
    const work = method.apply(this.#targets[row.of], [...unpacked]);
    const pack = row.result?.pack as PackResult;
    this.#settle(id, pack === undefined ? work : work.then(pack), lent);
  }

  #write(writes: readonly SmallWrite[], onDone: () => void): void {
    this.#open += writes.length;
    let outcomes: readonly Promise<WriteOutcome>[];
    try {
      outcomes = this.#options.engine.writeTogether(writes.map(({ request }) => request));
    } catch (error) {
      for (const { id } of writes) this.#fail(id, error);
      onDone();
      return;
    }
    let pending = writes.length;
    const answered = (): void => {
      pending--;
      if (pending > 0) return;
      // The answers go before the next group is parsed.
      this.#outbox.flush();
      onDone();
    };
    for (const [i, { id }] of writes.entries()) {
      outcomes[i]!.then(
        (outcome) => {
          const isShort = isPlain(outcome);
          this.#answer(
            isShort ? { kind: 'written', id, outcome } : { kind: 'result', id, value: outcome },
          );
          answered();
        },
        (error: unknown) => {
          this.#fail(id, error);
          answered();
        },
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
  #answer(message: FromEngine | PlainOutcome, transfer: readonly ArrayBuffer[] = []): void {
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
