// The engine in a thread of its own, behind the same interface (docs/adr/0002-threads.md).
import { systemClock, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type {
  Storage,
  BodyBuffers,
  StorageEngine,
  WriteLinesRequest,
  WriteOutcome,
  WritePointsRequest,
} from '@tidemark/storage-api';

import type { StorageOptions } from '../options.ts';
import { remoteBackup, remoteRestore } from './byte-streams.ts';
import type { CallStream } from './byte-streams.ts';
import { Connection } from './connection.ts';
import { EngineLink, LinkHolder } from './engine-link.ts';
import { packPoints } from './packed-points.ts';
import type { CallName } from './protocol.ts';
import { RemoteSource } from './remote-source.ts';
import { SchemaCache } from './schema-cache.ts';
import { isSmall } from './small-writes.ts';

/** When the thread fails twice within this time, it is not opened again. */
const FAILURE_WINDOW_MS = 60_000;

/** Opens the engine in a thread of its own. Only one process may open a directory. */
export async function openStorage(
  options: StorageOptions,
  clock: Clock = systemClock(),
): Promise<ThreadedEngine> {
  const proxy = new StorageProxy(options, clock);
  await proxy.open();
  const engine = engineOver(proxy.holder, {
    bodyBuffer: (sizeBytes) => proxy.bodyBuffer(sizeBytes),
    writeLines: (request) => proxy.writeLines(request),
    writePoints: (request) => proxy.writePoints(request),
    dropPolicy: (policyId) => proxy.dropPolicy(policyId),
    close: () => proxy.close(),
  });
  return { ...engine, openRehearsal: () => openRehearsal(proxy.connection()) };
}

/** The engine of the thread, and a second one to warm up with (`Storage.openRehearsal`). */
export type ThreadedEngine = StorageEngine & Required<Pick<Storage, 'openRehearsal'>>;

type OwnMethods = Required<
  Pick<StorageEngine, 'bodyBuffer' | 'writeLines' | 'writePoints' | 'dropPolicy' | 'close'>
>;

/** The engine behind a link. The thread calls most methods with the same arguments. */
function engineOver(holder: LinkHolder, own: OwnMethods): StorageEngine {
  const send = async (name: CallName, args: unknown[]): Promise<unknown> =>
    holder.link.call((id) => ({ kind: 'call', id, name, args }));
  const call =
    <K extends CallName & keyof StorageEngine>(name: K) =>
    (...args: Parameters<StorageEngine[K]>): ReturnType<StorageEngine[K]> =>
      send(name, args) as ReturnType<StorageEngine[K]>;
  // The thread answers each name with the result that its interface declares.
  const callStream = ((name: CallName, ...args: unknown[]) => send(name, args)) as CallStream;
  return {
    source: new RemoteSource(holder),
    bodyBuffer: own.bodyBuffer,
    writeLines: own.writeLines,
    writePoints: own.writePoints,
    delete: call('delete'),
    dropMeasurement: call('dropMeasurement'),
    dropPolicy: own.dropPolicy,
    dropShard: call('dropShard'),
    shards: call('shards'),
    statistics: call('statistics'),
    damage: call('damage'),
    flush: call('flush'),
    compact: call('compact'),
    backup: (request) => remoteBackup(callStream, request),
    restore: (request, bytes) => remoteRestore(callStream, request, bytes),
    close: own.close,
  };
}

/**
 * Opens a second engine in the same thread, with its data in memory (`Storage.openRehearsal`).
 */
async function openRehearsal(connection: Connection): Promise<StorageEngine> {
  await connection.call((id) => ({ kind: 'open-rehearsal', id }));
  const schemas = new SchemaCache(connection.schemaVersions);
  const link = new EngineLink(connection, { schemas, isRehearsal: true });
  const holder = new LinkHolder();
  holder.replace(link);
  return engineOver(holder, {
    bodyBuffer: (sizeBytes) => new Uint8Array(sizeBytes),
    writeLines: async (request) =>
      (await link.call((id) => ({
        kind: 'call',
        id,
        name: 'writeLines',
        args: [request],
      }))) as WriteOutcome,
    writePoints: (request) => writePointsTo(link, request),
    dropPolicy: (policyId) => dropPolicyAt(link, policyId),
    close: async () => void (await link.call((id) => ({ kind: 'close', id }))),
  });
}

async function writePointsTo(
  link: EngineLink,
  { policy, points }: WritePointsRequest,
): Promise<WriteOutcome> {
  const packed = packPoints(points);
  const answer = link.call(
    (id) => ({ kind: 'write-points', id, policy, packed }),
    [packed.times.buffer, packed.places.buffer, packed.words.buffer],
  );
  return (await answer) as WriteOutcome;
}

async function dropPolicyAt(link: EngineLink, policyId: number): Promise<void> {
  await link.call((id) => ({ kind: 'call', id, name: 'dropPolicy', args: [policyId] }));
}

class StorageProxy {
  readonly #options: StorageOptions;
  readonly #clock: Clock;
  #connection: Connection | undefined;
  readonly holder = new LinkHolder();
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

  async open(): Promise<void> {
    const {
      log = () => undefined,
      onFatal: _onFatal,
      onAvailability: _onAvailability,
      ...threadOptions
    } = this.#options;
    const connection = await Connection.open(threadOptions, {
      log,
      onLost: (reason) => this.#onLost(reason),
    });
    const { schemas } = connection;
    const link = new EngineLink(connection, { schemas, isRehearsal: false });
    // Messages are handled in order: nothing is read before their shards are hidden.
    for (const policyId of this.#undropped) {
      this.#drop(link, policyId).catch((error: unknown) => {
        log('error', 'a retention policy could not be dropped yet', { policyId, error });
      });
    }
    this.#connection = connection;
    this.holder.replace(link);
  }

  async dropPolicy(policyId: number): Promise<void> {
    this.#undropped.add(policyId);
    await this.#drop(this.holder.link, policyId);
  }

  async #drop(link: EngineLink, policyId: number): Promise<void> {
    await dropPolicyAt(link, policyId);
    this.#undropped.delete(policyId);
  }

  connection(): Connection {
    if (this.#closing !== undefined) throw new Unavailable('storage is closed');
    if (this.#connection === undefined) throw new Unavailable('storage is restarting');
    return this.#connection;
  }

  bodyBuffer(sizeBytes: number): Uint8Array {
    return this.#connection?.bodies.take(sizeBytes) ?? new Uint8Array(sizeBytes);
  }

  async writeLines(request: WriteLinesRequest): Promise<WriteOutcome> {
    const connection = this.connection();
    if (isSmall(request)) {
      return (await connection.call((id) => ({
        kind: 'small-write',
        id,
        request,
      }))) as WriteOutcome;
    }
    const { bodies } = connection;
    const body = ownBytes(request.body, bodies);
    const { buffer } = body;
    const lent = bodies.isLent(body) ? buffer : undefined;
    const answer = connection.call(
      (id) => ({ kind: 'call', id, name: 'writeLines', args: [{ ...request, body }], lent }),
      body.byteLength > 0 ? [buffer] : [],
    );
    return (await answer) as WriteOutcome;
  }

  async writePoints(request: WritePointsRequest): Promise<WriteOutcome> {
    return writePointsTo(this.holder.link, request);
  }

  close(): Promise<void> {
    this.holder.close();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Waits for a thread that is being opened again, which would otherwise go on running. */
  async #close(): Promise<void> {
    await this.#reopening;
    await this.#connection?.close();
  }

  /**
   * Opens the engine in a new thread, unless this is the second failure within `FAILURE_WINDOW_MS`.
   */
  #onLost(reason: Error): void {
    const { log = () => undefined, onFatal, onAvailability } = this.#options;
    this.#connection = undefined;
    this.holder.replace(undefined);
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

/**
 * The bytes in a buffer that can be transferred; copied if they share it, as small buffers of Node
 * do.
 */
function ownBytes(bytes: Uint8Array, bodies: BodyBuffers): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  const isOwn = buffer instanceof ArrayBuffer && byteLength === buffer.byteLength;
  if (isOwn || bodies.isLent(bytes)) {
    return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
  }
  return new Uint8Array(bytes);
}
