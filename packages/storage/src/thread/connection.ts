// The connection to one engine of the storage thread: sends requests, matches answers to them, and
// fails everything when the thread ends.
import type { Transferable, Worker } from 'node:worker_threads';

import { Numbered, Unavailable } from '@tidemark/core';
import type { BodyBuffers, WriteLinesRequest } from '@tidemark/storage-api';

import type { SchemaVersions } from '../series/schema-version.ts';
import { SentPlans } from './carried-plans.ts';
import { errorFromMessage } from './errors.ts';
import { Outbox } from './outbox.ts';
import { unpackOutcomes } from './packed-outcomes.ts';
import type {
  BatchesMessage,
  FromEngine,
  ReadMessage,
  SignalMessage,
  ToThread,
} from './protocol.ts';
import { CALLS } from './requests.ts';
import type { CallName, PackedCall } from './requests.ts';
import { SchemaCache } from './schema-cache.ts';
import { RingWriter } from './write-ring.ts';

type Call = { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void };

/** Handles the answer to a read, in one or several messages. */
export type ReadHandler = {
  onBatches(message: BatchesMessage): void;
  /** The read waits until it may hold this much memory. */
  onAsk(sizeBytes: number): void;
  onError(error: Error): void;
};

type UnpackResult = ((packed: unknown) => unknown) | undefined;
type Pack = ((bodies: BodyBuffers, ...args: readonly unknown[]) => PackedCall) | undefined;

export type ConnectionOptions = {
  readonly versions: SchemaVersions;
  readonly bodies: BodyBuffers;
  /** `ringMemory()`, which the engine's end has too. */
  readonly ring: SharedArrayBuffer;
};

export class Connection {
  readonly #bodies: BodyBuffers;
  /** Answers to schema look-ups. */
  readonly schemas: SchemaCache;
  /** Plans that the engine was sent. */
  readonly plans = new SentPlans();
  #calls = new Numbered<Call>();
  #reads = new Numbered<ReadHandler>();
  readonly #outbox: Outbox<ToThread>;
  readonly #ring: RingWriter;
  #nextId = 1;
  #lost: Error | undefined;

  constructor(port: Pick<Worker, 'postMessage'>, { versions, bodies, ring }: ConnectionOptions) {
    this.#bodies = bodies;
    this.schemas = new SchemaCache(versions);
    this.#ring = new RingWriter(ring);
    this.#outbox = new Outbox((messages, transfer) => port.postMessage(messages, transfer));
  }

  nextId(): number {
    return this.#nextId++;
  }

  /** Makes a call of `CALLS`. */
  call(name: CallName, args: readonly unknown[]): Promise<unknown> {
    const row = CALLS[name];
    const unpack = row.result?.unpack as UnpackResult;
    return new Promise((take, reject) => {
      const resolve = unpack === undefined ? take : (packed: unknown) => take(unpack(packed));
      const id = this.#begin({ resolve, reject });
      if (id === undefined) return;
      if (name === 'writeLines' && this.#ring.add(id, args[0] as WriteLinesRequest)) {
        if (this.#ring.mustWake()) this.#send({ kind: 'writes' });
        return;
      }
      const packed = (row.pack as Pack)?.(this.#bodies, ...args) ?? { args, transfer: [] };
      const { transfer, lent } = packed;
      this.#send({ kind: 'call', id, name, args: packed.args, lent }, transfer);
    });
  }

  request(
    make: (id: number) => ToThread,
    transfer: readonly Transferable[] = [],
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = this.#begin({ resolve, reject });
      if (id !== undefined) this.#send(make(id), transfer);
    });
  }

  /** The number of a new call; `undefined`, and the call has failed, when the thread has ended. */
  #begin(call: Call): number | undefined {
    if (this.#lost !== undefined) {
      call.reject(new Unavailable('storage thread has ended', { cause: this.#lost }));
      return undefined;
    }
    const id = this.nextId();
    this.#calls.add(id, call);
    return id;
  }

  /** Begins a read and returns its number. */
  read(handler: ReadHandler, message: Omit<ReadMessage, 'kind' | 'id'>): number {
    const id = this.nextId();
    if (this.#lost !== undefined) {
      handler.onError(new Unavailable('storage thread has ended', { cause: this.#lost }));
      return id;
    }
    this.#reads.add(id, handler);
    this.#send({ kind: 'read', id, ...message });
    return id;
  }

  /** Tells a read something while it runs. */
  signal(message: Omit<SignalMessage, 'kind'>): void {
    if (this.#reads.get(message.id) === undefined) return;
    this.#send({ kind: 'signal', ...message } as SignalMessage);
  }

  /** Ends a read: its handler gets no more messages, and the thread stops working on it. */
  cancel(id: number): void {
    this.signal({ id, name: 'cancel' });
    this.#reads.take(id);
  }

  /** Releases a snapshot, with the next message or after a short time. */
  release(snapshot: number): void {
    if (this.#lost === undefined) this.#outbox.sendLater({ kind: 'release', snapshot });
  }

  #send(message: ToThread, transfer?: readonly Transferable[]): void {
    // One alone has nothing to wait for.
    if (this.#calls.count + this.#reads.count === 1) this.#outbox.send(message, transfer);
    else this.#outbox.sendSoon(message, transfer);
  }

  handle(message: FromEngine): void {
    switch (message.kind) {
      case 'result':
        if (message.lent !== undefined) this.#bodies.giveBack(message.lent);
        this.#calls.take(message.id)?.resolve(message.value);
        break;
      case 'all-written':
        for (const [id, outcome] of unpackOutcomes(message)) this.#calls.take(id)?.resolve(outcome);
        break;
      case 'failed': {
        const error = errorFromMessage(message.error);
        this.#calls.take(message.id)?.reject(error);
        this.#reads.take(message.id)?.onError(error);
        break;
      }
      case 'batches': {
        const { id, isLast } = message;
        (isLast ? this.#reads.take(id) : this.#reads.get(id))?.onBatches(message);
        break;
      }
      case 'ask':
        this.#reads.get(message.id)?.onAsk(message.sizeBytes);
        break;
    }
  }

  /** The thread has ended: nothing is answered any more. */
  end(reason: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = reason;
    this.#outbox.clear();
    this.#bodies.clear();
    const error = new Unavailable('storage thread ended before the answer', { cause: reason });
    for (const call of this.#calls.values()) call.reject(error);
    for (const read of this.#reads.values()) read.onError(error);
    this.#calls = new Numbered();
    this.#reads = new Numbered();
  }
}
