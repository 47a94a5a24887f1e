// The engine in a thread of its own, behind the same interface (docs/adr/0002-threads.md).
import { systemClock, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { BodyBuffers } from '@tidemark/storage-api';
import type { Storage, StorageEngine } from '@tidemark/storage-api';

import type { StorageOptions } from '../options.ts';
import type { Connection } from './connection.ts';
import { remoteEngine } from './remote-engine.ts';
import { StorageThread } from './storage-thread.ts';

/** When the thread fails twice within this time, it is not opened again. */
const FAILURE_WINDOW_MS = 60_000;

/** The engine of the thread, and a second one to warm up with (`Storage.openRehearsal`). */
export type ThreadedEngine = StorageEngine & {
  readonly openRehearsal: NonNullable<Storage['openRehearsal']>;
};

/** Opens the engine in a thread of its own. Only one process may open a directory. */
export async function openStorage(
  options: StorageOptions,
  clock: Clock = systemClock(),
): Promise<ThreadedEngine> {
  const threads = new StorageThreads(options, clock);
  await threads.open();
  return {
    ...remoteEngine(() => threads.current.connection, threads.bodies),
    dropPolicy: (policyId) => threads.dropPolicy(policyId),
    openRehearsal: () => threads.current.openRehearsal(),
    close: () => threads.close(),
  };
}

/** The present thread; one that fails is replaced. */
class StorageThreads {
  readonly #options: StorageOptions;
  readonly #clock: Clock;
  readonly bodies = new BodyBuffers();
  #thread: StorageThread | undefined;
  #reopening: Promise<void> | undefined;
  #lastFailureMs = Number.NEGATIVE_INFINITY;
  #closing: Promise<void> | undefined;
  /**
   * Policies whose drop has not succeeded. A thread that is opened again does not know of it, and
   * their names may have been reused.
   */
  readonly #undropped = new Set<number>();

  constructor(options: StorageOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Throws `Unavailable` while there is none. */
  get current(): StorageThread {
    if (this.#closing !== undefined) throw new Unavailable('storage is closed');
    if (this.#thread === undefined) throw new Unavailable('storage is restarting');
    return this.#thread;
  }

  async open(): Promise<void> {
    const {
      log = () => undefined,
      onFatal: _onFatal,
      onAvailability: _onAvailability,
      ...threadOptions
    } = this.#options;
    const onLost = (reason: Error): void => this.#onLost(reason);
    const thread = await StorageThread.open(threadOptions, this.bodies, { log, onLost });
    // Messages are handled in order: nothing is read before their shards are hidden.
    for (const policyId of this.#undropped) {
      this.#drop(thread.connection, policyId).catch((error: unknown) => {
        log('error', 'a retention policy could not be dropped yet', { policyId, error });
      });
    }
    this.#thread = thread;
  }

  async dropPolicy(policyId: number): Promise<void> {
    this.#undropped.add(policyId);
    await this.#drop(this.current.connection, policyId);
  }

  async #drop(connection: Connection, policyId: number): Promise<void> {
    await connection.call('dropPolicy', [policyId]);
    this.#undropped.delete(policyId);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Waits for a thread that is being opened again, which would otherwise go on running. */
  async #close(): Promise<void> {
    await this.#reopening;
    await this.#thread?.close();
  }

  /**
   * Opens the engine in a new thread, unless this is the second failure within `FAILURE_WINDOW_MS`.
   */
  #onLost(reason: Error): void {
    const { log = () => undefined, onFatal, onAvailability } = this.#options;
    this.#thread = undefined;
    const nowMs = this.#clock.monotonicMs();
    const isRepeated = nowMs - this.#lastFailureMs < FAILURE_WINDOW_MS;
    this.#lastFailureMs = nowMs;
    log('error', 'storage thread failed', { error: reason, stack: reason.stack });
    onAvailability?.(false);
    if (isRepeated) {
      onFatal?.(reason);
      return;
    }
    this.#reopening = this.open().then(
      () => onAvailability?.(true),
      (error: unknown) => {
        log('error', 'storage thread cannot be opened again', { error });
        onFatal?.(error instanceof Error ? error : new Unavailable(String(error)));
      },
    );
  }
}
