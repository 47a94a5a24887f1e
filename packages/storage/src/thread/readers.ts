// The owner's side of readers (docs/adr/0034-readers.md): starts one with the first read, sends
// lists and requests, and holds the leases of its reads until they have ended.
import { Numbered, Unavailable } from '@tidemark/core';
import type { AggregateBatch, Operator, RequestOptions } from '@tidemark/query';

import type {
  EngineReaders,
  LeasedRequest,
  ListOfShard,
  ReadEngine,
  ShardList,
} from '../read/leased-read.ts';
import { ListVersions } from '../read/leased-read.ts';
import { SentPlans } from './carried-plans.ts';
import type { ReadHandler } from './connection.ts';
import { errorFromMessage } from './errors.ts';
import type { FromEngine, ReadMessage, SignalMessage } from './protocol.ts';
import { read } from './remote-source.ts';
import type { ReadConnection } from './remote-source.ts';

/** To a reader. */
export type ToReader =
  | ReadMessage
  | SignalMessage
  | { readonly kind: 'list'; readonly of: ListOfShard; readonly list: ShardList }
  | { readonly kind: 'drop-list'; readonly of: ListOfShard }
  /** These files have been removed. */
  | { readonly kind: 'forget'; readonly files: readonly number[] };

/** From a reader. */
export type FromReader =
  | FromEngine
  /** A read with this lease has ended, or was cancelled: it reads no file any more. */
  | { readonly kind: 'ended'; readonly lease: number };

/**
 * A message says for which opening of the engine it is: after another one, numbers of files and
 * of lists mean other things.
 */
export type Generated<T> = { readonly generation: number; readonly message: T };

/** A running reader. */
export type RunningReader = {
  readonly post: (message: Generated<ToReader>) => void;
  /** Resolves when it has ended: it reads no file any more. */
  readonly end: () => Promise<void>;
};

/** Starts a reader. `onEnd` is called when it has ended without having been asked to. */
export type StartReader = (
  onMessage: (message: Generated<FromReader>) => void,
  onEnd: (reason: Error) => void,
) => RunningReader;

export type ReadersOptions = {
  readonly start: StartReader;
  readonly leases: ReadEngine['leases'];
  /** Of the engine; another one each time that it is opened. */
  readonly generation: number;
  readonly rowsMin: number;
  /** A reader without reads for so long ends. */
  readonly idleMs: number;
};

export class Readers implements EngineReaders {
  readonly versions = new ListVersions();
  readonly #options: ReadersOptions;
  #link: ReaderLink | undefined;
  /** Readers that were idle and have not ended yet. */
  readonly #ending = new Set<Promise<void>>();
  #idle: NodeJS.Timeout | undefined;

  constructor(options: ReadersOptions) {
    this.#options = options;
  }

  get rowsMin(): number {
    return this.#options.rowsMin;
  }

  *aggregate(
    request: LeasedRequest,
    lists: ReadonlyMap<ListOfShard, ShardList>,
    options: RequestOptions,
  ): Operator<AggregateBatch> {
    clearTimeout(this.#idle);
    const link = (this.#link ??= this.#open());
    const connection = link.reading(request.parts.lease, lists);
    yield* read(connection, { name: 'aggregate', request, options });
  }

  /** Files that have been removed, after the last lease. */
  forget(files: readonly number[]): void {
    this.#link?.send({ kind: 'forget', files });
  }

  /** Resolves when no reader reads any more. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#stop();
    await Promise.all(this.#ending);
  }

  #open(): ReaderLink {
    const link = new ReaderLink(this.#options, {
      onIdle: () => {
        clearTimeout(this.#idle);
        this.#idle = setTimeout(() => this.#stop(), this.#options.idleMs).unref();
      },
      onLost: () => {
        if (this.#link === link) this.#link = undefined;
      },
    });
    return link;
  }

  #stop(): void {
    const link = this.#link;
    if (link === undefined) return;
    this.#link = undefined;
    const ending = link.end().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

type Held = { readonly release: () => void; readonly lists: readonly ListOfShard[] };

type LinkEvents = { readonly onIdle: () => void; readonly onLost: () => void };

/** One reader, from its start to its end. */
class ReaderLink {
  readonly #leases: ReadEngine['leases'];
  readonly #generation: number;
  readonly #events: LinkEvents;
  readonly #reader: RunningReader;
  readonly #plans = new SentPlans();
  #reads = new Numbered<ReadHandler>();
  /** By the number of the lease: of each read that the reader has not ended. */
  readonly #held = new Map<number, Held[]>();
  readonly #lists = new SentLists((message) => this.send(message));
  #nextId = 1;
  #lost: Error | undefined;

  constructor({ start, leases, generation }: ReadersOptions, events: LinkEvents) {
    this.#leases = leases;
    this.#generation = generation;
    this.#events = events;
    this.#reader = start(
      ({ generation: of, message }) => {
        if (of === generation) this.#handle(message);
      },
      (reason) => this.#lose(reason),
    );
  }

  send(message: ToReader): void {
    if (this.#lost === undefined) this.#reader.post({ generation: this.#generation, message });
  }

  /** For one read, which keeps the lease and these lists until the reader has ended it. */
  reading(lease: number, lists: ReadonlyMap<ListOfShard, ShardList>): ReadConnection {
    return {
      plans: this.#plans,
      read: (handler, message) => {
        if (this.#lost === undefined) this.#begin(lease, lists);
        return this.#read(handler, message);
      },
      signal: (message) => this.#signal(message),
      cancel: (id) => {
        this.#signal({ id, name: 'cancel' });
        this.#reads.take(id);
      },
    };
  }

  #begin(lease: number, lists: ReadonlyMap<ListOfShard, ShardList>): void {
    const { release } = this.#leases.share(lease);
    const held = { release, lists: [...lists.keys()] };
    const others = this.#held.get(lease);
    if (others === undefined) this.#held.set(lease, [held]);
    else others.push(held);
    for (const [of, list] of lists) this.#lists.use(of, list);
  }

  #read(handler: ReadHandler, message: Omit<ReadMessage, 'kind' | 'id'>): number {
    const id = this.#nextId++;
    if (this.#lost === undefined) {
      this.#reads.add(id, handler);
      this.send({ kind: 'read', id, ...message });
    } else handler.onError(lostBy(this.#lost));
    return id;
  }

  #signal(message: Omit<SignalMessage, 'kind'>): void {
    if (this.#reads.get(message.id) === undefined) return;
    this.send({ kind: 'signal', ...message } as SignalMessage);
  }

  #handle(message: FromReader): void {
    switch (message.kind) {
      case 'ended':
        this.#ended(message.lease);
        break;
      case 'failed':
        this.#reads.take(message.id)?.onError(errorFromMessage(message.error));
        break;
      case 'batches': {
        const { id, isLast } = message;
        (isLast ? this.#reads.take(id) : this.#reads.get(id))?.onBatches(message);
        break;
      }
      case 'ask':
        this.#reads.get(message.id)?.onAsk(message.sizeBytes);
        break;
      case 'result':
      case 'all-written':
        break;
    }
  }

  #ended(lease: number): void {
    const all = this.#held.get(lease);
    const held = all?.pop();
    if (all?.length === 0) this.#held.delete(lease);
    if (held === undefined) return;
    for (const of of held.lists) this.#lists.release(of);
    held.release();
    if (this.#held.size === 0) this.#events.onIdle();
  }

  /** The reader has ended: its reads have failed, and it holds no lease. */
  #lose(reason: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = reason;
    this.#events.onLost();
    for (const handler of this.#reads.values()) handler.onError(lostBy(reason));
    this.#reads = new Numbered();
    for (const all of this.#held.values()) for (const { release } of all) release();
    this.#held.clear();
  }

  async end(): Promise<void> {
    await this.#reader.end();
    this.#lose(new Unavailable('readers are closed'));
  }
}

function lostBy(cause: Error): Unavailable {
  return new Unavailable('the reader of the query has ended', { cause });
}

/** The lists that a reader has: those of its reads, and the newest ones of each shard. */
class SentLists {
  readonly #send: (message: ToReader) => void;
  /** The number of reads with a list. */
  readonly #uses = new Map<ListOfShard, number>();
  /** By shard and kind. */
  readonly #newest = new Map<string, ListOfShard>();

  constructor(send: (message: ToReader) => void) {
    this.#send = send;
  }

  /** A read with the list begins. */
  use(of: ListOfShard, list: ShardList): void {
    const uses = this.#uses.get(of);
    this.#uses.set(of, (uses ?? 0) + 1);
    if (uses !== undefined) return;
    this.#send({ kind: 'list', of, list });
    const key = `${of.of} ${of.shard}`;
    const newest = this.#newest.get(key);
    if (newest !== undefined && newest.version > of.version) return;
    this.#newest.set(key, of);
    if (newest !== undefined) this.#dropUnused(newest);
  }

  /** Such a read has ended. */
  release(of: ListOfShard): void {
    this.#uses.set(of, this.#uses.get(of)! - 1);
    if (this.#newest.get(`${of.of} ${of.shard}`) !== of) this.#dropUnused(of);
  }

  #dropUnused(of: ListOfShard): void {
    if (this.#uses.get(of) !== 0) return;
    this.#uses.delete(of);
    this.#send({ kind: 'drop-list', of });
  }
}
