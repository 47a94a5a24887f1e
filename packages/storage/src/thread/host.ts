// The storage thread: runs the engine and answers the proxy's messages.
import { parentPort, workerData } from 'node:worker_threads';

import { assert, AssertionFailed } from '@tidemark/core';
import { collectWhenIdle } from '@tidemark/process';
import { zeroCounters } from '@tidemark/query';
import type {
  CostRequest,
  EndedGroup,
  Operator,
  SourceCounters,
  SourceMemory,
  SourceSnapshot,
} from '@tidemark/query';
import type { StorageLog, WriteOutcome } from '@tidemark/storage-api';

import { ReadKernels } from '../columns/read-kernels.ts';
import { threadHeap } from '../columns/thread-heap.ts';
import { memoryDisk } from '../disk/memory-disk.ts';
import { openStorageInline } from '../engine/open-inline.ts';
import type { Engine } from '../engine/engine.ts';
import { SchemaVersions } from '../series/schema-version.ts';
import type { SchemaScope } from '../series/schema-version.ts';
import { Answers } from './answers.ts';
import { HeldPlans } from './carried-plans.ts';
import { byteStreams } from './byte-streams.ts';
import { errorToMessage } from './errors.ts';
import { Outbox } from './outbox.ts';
import { isPlain, packOutcomes, unpackWrites } from './small-writes.ts';
import type { SmallOutcome, SmallWrite } from './small-writes.ts';
import { unpackPoints } from './packed-points.ts';
import { SOURCE_COUNTERS } from './protocol.ts';
import type {
  ByteStreamCalls,
  FromThread,
  SchemaState,
  StreamBatch,
  StreamRequest,
  ThreadData,
  ToThread,
} from './protocol.ts';
import { batchBytes, prepareBatches } from './transfer.ts';

assert(parentPort !== null, 'runs in a thread');
const port = parentPort;
const { options, schemaVersions } = workerData as ThreadData;
const versions = new SchemaVersions(schemaVersions);
/** The rehearsal uses the same kernels, so that code that V8 has compiled for it fits later. */
const kernels = new ReadKernels(options.columnCacheBytes);
/** Plans of the connection, which the rehearsal's engine shares. */
const plans = new HeldPlans();
collectWhenIdle();

/** Streams have no signal: a `cancel` message ends them. */
const NEVER = new AbortController().signal;

/** Batches are collected up to this size, so that a large answer takes few messages. */
const MESSAGE_BYTES = 256 << 10;

type Stream = {
  readonly batches: Operator<StreamBatch>;
  readonly counters: SourceCounters;
  readonly ended: EndedGroup;
  readonly memory: GrantedMemory | undefined;
  /** Missing parts of the answer that have not been reported to the reader yet. */
  readonly partial: string[];
  readonly finish: (() => Promise<SchemaState | undefined>) | undefined;
  /** For an answer of names: whether only a change of names can change it. */
  isSettled: boolean | undefined;
  /** The work on the next message is waiting for its turn. */
  isWaiting: boolean;
};

type HeldSnapshot = {
  readonly snapshot: SourceSnapshot;
  /** Number of schema changes before the snapshot. */
  readonly total: number;
};

type Versions = { readonly [S in SchemaScope]: number };

function versionsOf({ kind, request }: StreamRequest): Versions | undefined {
  if (kind !== 'schema') return undefined;
  const { database } = request.filter;
  return { names: versions.of(database, 'names'), series: versions.of(database, 'series') };
}

const outbox = new Outbox<FromThread | SmallOutcome>((messages, transfer) =>
  port.postMessage(packOutcomes<FromThread>(messages), transfer),
);

function send(message: FromThread, transfer: readonly ArrayBuffer[] = []): void {
  outbox.send(message, transfer);
}

/**
 * Ends the thread when an assertion has failed, be it the cause of another error: its memory cannot
 * be trusted, so it must not answer any more. The other side opens the directory again, from the
 * log.
 */
function endIfBroken(error: unknown): void {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (!(at instanceof AssertionFailed)) continue;
    send({ kind: 'broken', error: errorToMessage(at) });
    process.exit(1);
  }
}

/** The memory of a stream, which the other side grants. */
class GrantedMemory implements SourceMemory {
  readonly #id: number;
  grantedBytes: number;
  #proceed: () => void = () => undefined;

  constructor(id: number, grantedBytes: number) {
    this.#id = id;
    this.grantedBytes = grantedBytes;
  }

  ask(sizeBytes: number): Promise<void> {
    send({ kind: 'ask', id: this.#id, sizeBytes });
    return new Promise((resolve) => {
      this.#proceed = resolve;
    });
  }

  grant(sizeBytes: number): void {
    this.grantedBytes = sizeBytes;
    this.#proceed();
  }

  /** The other side knows when it has the last batch. */
  release(): void {}
}

class Host {
  readonly #engine: Engine;
  readonly #streamCalls: ByteStreamCalls;
  readonly #snapshots = new Map<number, HeldSnapshot>();
  readonly #streams = new Map<number, Stream>();
  readonly #answers: Answers;
  /** Calls without a result. */
  #running = 0;
  /** A second engine, which keeps its data in memory, while there is one. */
  #rehearsal: Host | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#streamCalls = byteStreams(engine);
    this.#answers = new Answers({
      plans,
      source: engine.source,
      send,
      fail: (id, error) => this.#fail(id, error),
    });
  }

  handle(message: ToThread): void {
    switch (message.kind) {
      case 'call':
        this.#answer(message.id, this.#call(message.name, message.args), message.lent);
        break;
      case 'release':
        this.#release(message.snapshot);
        break;
      case 'write-points': {
        const { id, policy, packed } = message;
        const points = unpackPoints(packed);
        this.#answer(id, this.#engine.writePoints({ policy, points }));
        break;
      }
      case 'small-writes':
        this.#write([...unpackWrites(message)]);
        break;
      case 'stream':
        this.#openStream(message);
        break;
      case 'answer':
        this.#answers.open(message);
        break;
      case 'pull':
        this.#pull(message.id);
        break;
      case 'grant':
        this.#streams.get(message.id)?.memory?.grant(message.grantedBytes);
        this.#rehearsal?.handle(message);
        break;
      case 'cancel':
        this.#cancel(message.id);
        this.#rehearsal?.handle(message);
        break;
      case 'end-group':
        this.#endGroup(message);
        this.#rehearsal?.handle(message);
        break;
      case 'open-rehearsal':
        this.#answer(message.id, this.#openRehearsal());
        break;
      case 'rehearsal':
        this.#rehearsal?.handle(message.message);
        if (message.message.kind === 'close') this.#rehearsal = undefined;
        break;
      case 'close':
        this.#answer(message.id, this.#engine.close());
        break;
    }
  }

  async #openRehearsal(): Promise<void> {
    assert(this.#rehearsal === undefined, 'one rehearsal at a time');
    const memory = { directory: '/rehearsal', hasBackgroundWork: false };
    this.#rehearsal = new Host(
      await openStorageInline(memory, { disk: memoryDisk(), schemaVersions: versions, kernels }),
    );
  }

  #call(name: (ToThread & { kind: 'call' })['name'], args: unknown[]): Promise<unknown> {
    // The sender is typed by the same interfaces, and nobody else posts to this port.
    const calls = (name in this.#streamCalls ? this.#streamCalls : this.#engine) as Record<
      string,
      (...values: unknown[]) => Promise<unknown>
    >;
    return calls[name]!(...args);
  }

  #write(writes: readonly Omit<SmallWrite, 'kind'>[]): void {
    let outcomes: readonly Promise<WriteOutcome>[];
    try {
      outcomes = this.#engine.writeTogether(writes.map(({ request }) => request));
    } catch (error) {
      for (const { id } of writes) this.#fail(id, error);
      return;
    }
    this.#running += writes.length;
    for (const [i, { id }] of writes.entries()) {
      outcomes[i]!.then(
        (outcome) =>
          this.#sendResult(
            isPlain(outcome)
              ? { kind: 'written', id, outcome }
              : { kind: 'result', id, value: outcome },
          ),
        (error: unknown) => this.#failCall(id, error),
      );
    }
  }

  /** Sends the result of a call. `lent` goes back with it; an error does not return it. */
  #answer(id: number, work: Promise<unknown>, lent?: ArrayBuffer): void {
    this.#running++;
    work.then(
      (value) => {
        if (lent === undefined) this.#sendResult({ kind: 'result', id, value });
        else this.#sendResult({ kind: 'result', id, value, lent }, [lent]);
        // Portions of backups.
        if (value instanceof Uint8Array) threadHeap.made(value.length);
      },
      (error: unknown) => this.#failCall(id, error),
    );
  }

  /** Sends a result with others of its turn: writes of a group become durable together. */
  #sendResult(message: FromThread | SmallOutcome, transfer: readonly ArrayBuffer[] = []): void {
    this.#running--;
    // The last one has nothing to wait for.
    if (this.#running === 0) outbox.send(message, transfer);
    else outbox.sendSoon(message, transfer);
  }

  #failCall(id: number, error: unknown): void {
    this.#running--;
    this.#fail(id, error);
  }

  #fail(id: number, error: unknown): void {
    endIfBroken(error);
    send({ kind: 'failed', id, error: errorToMessage(error) });
  }

  #release(id: number): void {
    this.#snapshots.get(id)?.snapshot.close();
    this.#snapshots.delete(id);
  }

  /** Ends a stream. If it waits for its turn, it ends when that comes. */
  #cancel(id: number): void {
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    this.#answers.cancel(id);
    if (stream?.isWaiting === false) stream.batches.return();
    // Ends it if it waits for memory.
    stream?.memory?.grant(0);
  }

  #endGroup({ id, tags }: ToThread & { kind: 'end-group' }): void {
    const stream = this.#streams.get(id);
    if (stream !== undefined) stream.ended.tags = tags;
  }

  #openStream(message: ToThread & { kind: 'stream' }): void {
    const counters = zeroCounters();
    const ended: EndedGroup = { tags: undefined };
    const { id, grantedBytes } = message;
    const memory = grantedBytes === undefined ? undefined : new GrantedMemory(id, grantedBytes);
    const partial: string[] = [];
    let isPartial = false;
    const onPartial = (reason: string): void => {
      isPartial = true;
      partial.push(reason);
    };
    try {
      const { snapshot, total } = this.#snapshotOf(message.snapshot);
      const before = total === versions.total ? versionsOf(message.request) : undefined;
      const batches = start(snapshot, message.request, {
        signal: NEVER,
        counters,
        memoryLimitBytes: message.memoryLimitBytes,
        memory: memory && { openSource: () => memory },
        ended,
        onPartial: message.takesPartial ? onPartial : undefined,
      });
      // A partial answer must not be cached.
      const finish =
        message.request.kind === 'schema'
          ? async () => (isPartial ? undefined : this.#schemaState(message, stream, before))
          : undefined;
      const stream: Stream = {
        batches,
        counters,
        ended,
        memory,
        partial,
        finish,
        isSettled: undefined,
        isWaiting: false,
      };
      this.#streams.set(message.id, stream);
    } catch (error) {
      this.#fail(message.id, error);
      return;
    }
    this.#pull(message.id);
  }

  #snapshotOf(id: number): HeldSnapshot {
    let held = this.#snapshots.get(id);
    if (held === undefined) {
      held = { snapshot: this.#engine.source.snapshot(), total: versions.total };
      this.#snapshots.set(id, held);
    }
    return held;
  }

  /**
   * The versions that the answer belongs to; `undefined` when the schema has changed since
   * `before`.
   */
  async #schemaState(
    message: ToThread & { kind: 'stream' },
    stream: Stream,
    before: Versions | undefined,
  ): Promise<SchemaState | undefined> {
    if (message.request.kind !== 'schema' || before === undefined) return undefined;
    const { database } = message.request.request.filter;
    const infos = message.wantsShards === true ? await this.#engine.shards() : undefined;
    const scope = stream.isSettled === true ? 'names' : 'series';
    if (versions.of(database, scope) !== before[scope]) return undefined;
    const shards = infos
      ?.filter((info) => info.database === database)
      .map(({ retentionPolicy, start: from, end }) => ({ retentionPolicy, start: from, end }));
    return { stamp: { scope, version: before[scope] }, shards };
  }

  #pull(id: number): void {
    const stream = this.#streams.get(id);
    if (stream !== undefined) this.#collect(id, stream, { batches: [], bytes: 0 });
  }

  /** Collects batches for the next message and sends it. Continues later when the work pauses. */
  #collect(id: number, stream: Stream, message: Message): void {
    stream.isWaiting = false;
    if (!this.#streams.has(id)) {
      stream.batches.return();
      return;
    }
    try {
      while (message.bytes < MESSAGE_BYTES) {
        const step = stream.batches.next();
        if (step.done === true) {
          this.#streams.delete(id);
          this.#sendLast(id, stream, message);
          return;
        }
        if (step.value instanceof Promise) {
          stream.isWaiting = true;
          void step.value.then(() => this.#collect(id, stream, message)); // Pauses never reject.
          return;
        }
        if (step.value === undefined) continue;
        message.bytes += batchBytes(step.value);
        if ('kind' in step.value && step.value.kind === 'names') {
          stream.isSettled = stream.isSettled !== false && step.value.isSettled;
        }
        message.batches.push(step.value);
      }
      this.#sendBatches(id, stream, { ...message, isLast: false });
    } catch (error) {
      this.#streams.delete(id);
      this.#fail(id, error);
    }
  }

  #sendLast(id: number, stream: Stream, message: Message): void {
    if (stream.finish === undefined) {
      this.#sendBatches(id, stream, { ...message, isLast: true });
      return;
    }
    stream.finish().then(
      (schema) => this.#sendBatches(id, stream, { ...message, isLast: true, schema }),
      (error: unknown) => this.#fail(id, error),
    );
  }

  #sendBatches(
    id: number,
    { counters, partial: reasons }: Stream,
    {
      batches,
      bytes,
      isLast,
      schema,
    }: Message & { isLast: boolean; schema?: SchemaState | undefined },
  ): void {
    const { prepared, transfer } = prepareBatches(batches);
    const partial = reasons.length === 0 ? undefined : reasons.splice(0);
    const message = { kind: 'batches', id, batches: prepared, sizeBytes: bytes, isLast } as const;
    const counts = SOURCE_COUNTERS.map((name) => counters[name]);
    // Absent properties are left out of the message, because each costs time.
    const more = { ...(partial && { partial }), ...(schema && { schema }) };
    send({ ...message, counters: counts, ...more }, transfer);
    threadHeap.made(bytes);
  }
}

/** Batches collected for a message. */
type Message = { readonly batches: StreamBatch[]; bytes: number };

function start(
  snapshot: SourceSnapshot,
  { kind, request }: StreamRequest,
  how: Parameters<SourceSnapshot['scan']>[1],
): Operator<StreamBatch> {
  switch (kind) {
    case 'schema':
      return snapshot.schema(request, how);
    case 'scan':
      return snapshot.scan(request, how);
    case 'aggregate':
      return snapshot.aggregate(request, how);
    case 'cost':
      return costBatch(snapshot, request, how);
  }
}

function* costBatch(
  snapshot: SourceSnapshot,
  request: CostRequest,
  how: Parameters<SourceSnapshot['scan']>[1],
): Operator<StreamBatch> {
  const work = snapshot.cost?.(request, how);
  if (work !== undefined) yield { kind: 'cost', ...(yield* work) };
}

/** A function, because the bundle does not allow `await` at the top level. */
async function open(): Promise<void> {
  try {
    const log: StorageLog = (level, message, details) => {
      const error = details?.['error'];
      // Background work has no caller to fail: it logs errors and goes on.
      endIfBroken(error);
      const plain = error === undefined ? details : { ...details, error: String(error) };
      send({ kind: 'log', level, message, details: plain });
    };
    const fault = (point: string): void =>
      assert(point !== options.failsAt, `no fault at ${point}`);
    const shared = { schemaVersions: versions, kernels, fault };
    const engine = await openStorageInline({ ...options, log }, shared);
    const host = new Host(engine);
    port.on('message', (messages: readonly ToThread[]) => {
      for (const message of messages) host.handle(message);
    });
    send({ kind: 'opened' });
  } catch (error) {
    send({ kind: 'open-failed', error: errorToMessage(error) });
  }
}

// This promise never rejects: a failure is sent as a message.
void open();
