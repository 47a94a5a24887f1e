// The storage thread's side of reads: executes them over snapshots, and sends batches as fast as
// their reader takes them.
import { Cancelled } from '@tidemark/core';
import { zeroCounters } from '@tidemark/query';
import type {
  EndedGroup,
  Operator,
  SchemaRequest,
  SeriesSource,
  SourceCounters,
  SourceMemory,
  SourceSnapshot,
} from '@tidemark/query';
import type { PointStorage } from '@tidemark/storage-api';

import type { SchemaScope, SchemaVersions } from '../series/schema-version.ts';
import type { HeldPlans } from './carried-plans.ts';
import { prepareBatches } from './packing.ts';
import { SOURCE_COUNTERS } from './protocol.ts';
import type {
  BatchesMessage,
  FromEngine,
  ReadMessage,
  ReadSignals,
  SchemaState,
  SignalMessage,
} from './protocol.ts';
import { READS } from './requests.ts';
import type { ReadRow } from './requests.ts';

export type ReadServerOptions = {
  readonly source: SeriesSource;
  readonly shards: PointStorage['shards'];
  readonly plans: HeldPlans;
  readonly versions: SchemaVersions;
  /** A read is to be worked on: an answer to its reader will follow. */
  readonly begin: () => void;
  /** Sends such an answer. */
  readonly answer: (message: FromEngine, transfer?: readonly ArrayBuffer[]) => void;
  readonly fail: (id: number, error: unknown) => void;
  /** There is no answer, because the reader has left. */
  readonly abandon: () => void;
  /** Sends a question to the reader. */
  readonly ask: (message: FromEngine) => void;
};

type HeldSnapshot = {
  readonly snapshot: SourceSnapshot;
  /** Number of schema changes before the snapshot. */
  readonly total: number;
};

type Versions = { readonly [S in SchemaScope]: number };

type AnyRow = ReadRow<{
  readonly request: unknown;
  readonly batch: unknown;
  readonly run: unknown;
  readonly packed: unknown;
}>;

/** Batches are collected up to this size, so that a large answer takes few messages. */
const MESSAGE_BYTES = 256 << 10;

/** Reads of one engine. */
export class ReadServer {
  readonly #options: ReadServerOptions;
  readonly #snapshots = new Map<number, HeldSnapshot>();
  readonly #reads = new Map<number, RunningRead>();

  constructor(options: ReadServerOptions) {
    this.#options = options;
  }

  open(message: ReadMessage): void {
    const { id, snapshot } = message;
    const { source, versions } = this.#options;
    const isOwn = snapshot === undefined;
    try {
      const held = isOwn
        ? { snapshot: source.snapshot(), total: versions.total }
        : this.#snapshotOf(snapshot);
      const onEnd = (): void => {
        this.#reads.delete(id);
        if (isOwn) held.snapshot.close();
      };
      const read = new RunningRead(this.#options, { message, held, onEnd });
      this.#reads.set(id, read);
      read.pull();
    } catch (error) {
      this.#options.begin();
      this.#options.fail(id, error);
    }
  }

  signal({ id, name, value }: SignalMessage): void {
    const read = this.#reads.get(id) as Record<string, (value: unknown) => void> | undefined;
    read?.[name]?.(value);
  }

  cancelAll(): void {
    for (const read of this.#reads.values()) read.cancel();
  }

  release(id: number): void {
    this.#snapshots.get(id)?.snapshot.close();
    this.#snapshots.delete(id);
  }

  #snapshotOf(id: number): HeldSnapshot {
    let held = this.#snapshots.get(id);
    if (held === undefined) {
      const { source, versions } = this.#options;
      held = { snapshot: source.snapshot(), total: versions.total };
      this.#snapshots.set(id, held);
    }
    return held;
  }
}

type Parts = {
  readonly message: ReadMessage;
  readonly held: HeldSnapshot;
  readonly onEnd: () => void;
};

/** A read until it has sent its last batch, has failed or was cancelled. */
class RunningRead implements ReadSignals {
  readonly #options: ReadServerOptions;
  readonly #message: ReadMessage;
  readonly #onEnd: () => void;
  readonly #row: AnyRow;
  readonly #batches: Operator<unknown>;
  readonly #abort = new AbortController();
  readonly #counters: SourceCounters = zeroCounters();
  readonly #ended: EndedGroup = { tags: undefined };
  readonly #memory: GrantedMemory | undefined;
  /** Missing parts of the answer that have not been reported to the reader yet. */
  readonly #partial: string[] = [];
  readonly #before: Versions | undefined;
  #isPartial = false;
  /** For an answer of names: whether only a change of names can change it. */
  #isSettled: boolean | undefined;
  /** The work on the next message is waiting for its turn. */
  #isWaiting = false;
  #isOver = false;

  constructor(options: ReadServerOptions, { message, held, onEnd }: Parts) {
    const { id, name, grantedBytes, memoryLimitBytes, takesPartial } = message;
    this.#options = options;
    this.#message = message;
    this.#onEnd = onEnd;
    // The sender packs requests by the same table, and nobody else posts to this port.
    this.#row = READS[name] as unknown as AnyRow;
    const request = this.#row.unpack?.(message.request, options.plans) ?? message.request;
    if (grantedBytes !== undefined) this.#memory = new GrantedMemory(id, grantedBytes, options.ask);
    const memory = this.#memory;
    const isCurrent = held.total === options.versions.total;
    if (name === 'schema' && isCurrent) this.#before = this.#versions(request as SchemaRequest);
    this.#batches = this.#row.open(held.snapshot, request, {
      signal: this.#abort.signal,
      counters: this.#counters,
      memoryLimitBytes,
      memory: memory && { openSource: () => memory },
      ended: this.#ended,
      onPartial: takesPartial ? (reason) => this.#miss(reason) : undefined,
    });
  }

  pull(): void {
    this.#options.begin();
    this.#collect([], 0);
  }

  /** If it waits for its turn, it ends when that comes. */
  cancel(): void {
    this.#end();
    this.#abort.abort(new Cancelled('the reader has left'));
    if (!this.#isWaiting) this.#batches.return();
    // Ends it if it waits for memory.
    this.#memory?.grant(0);
  }

  grant(sizeBytes: number): void {
    this.#memory?.grant(sizeBytes);
  }

  endGroup(tags: readonly string[]): void {
    this.#ended.tags = tags;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
  }

  #miss(reason: string): void {
    this.#isPartial = true;
    this.#partial.push(reason);
  }

  /** Collects batches for the next message and sends it. Continues later when the work pauses. */
  #collect(batches: unknown[], collectedBytes: number): void {
    this.#isWaiting = false;
    if (this.#isOver) {
      this.#batches.return();
      this.#options.abandon();
      return;
    }
    let bytes = collectedBytes;
    try {
      while (bytes < MESSAGE_BYTES) {
        const step = this.#batches.next();
        if (step.done === true) {
          this.#end();
          this.#sendLast(batches, bytes);
          return;
        }
        const { value } = step;
        if (value instanceof Promise) {
          this.#isWaiting = true;
          const collected = bytes;
          // Pauses never reject.
          void value.then(() => this.#collect(batches, collected));
          return;
        }
        if (value === undefined) continue;
        bytes += this.#row.batches.sizeOf(value);
        if (this.#before !== undefined) this.#noteNames(value as { isSettled?: boolean });
        batches.push(value);
      }
      this.#send(batches, bytes, { isLast: false });
    } catch (error) {
      this.#end();
      this.#options.fail(this.#message.id, error);
    }
  }

  #noteNames({ isSettled }: { readonly isSettled?: boolean }): void {
    if (isSettled !== undefined) this.#isSettled = this.#isSettled !== false && isSettled;
  }

  #sendLast(batches: unknown[], bytes: number): void {
    if (this.#before === undefined) {
      this.#send(batches, bytes, { isLast: true });
      return;
    }
    this.#schemaState(this.#before).then(
      (schema) => this.#send(batches, bytes, schema ? { isLast: true, schema } : { isLast: true }),
      (error: unknown) => this.#options.fail(this.#message.id, error),
    );
  }

  #send(
    batches: readonly unknown[],
    sizeBytes: number,
    end: Pick<BatchesMessage, 'isLast' | 'schema'>,
  ): void {
    const { prepared, transfer } = prepareBatches(this.#row.batches, batches);
    const { id } = this.#message;
    const message: { -readonly [K in keyof BatchesMessage]: BatchesMessage[K] } = {
      kind: 'batches',
      id,
      batches: prepared,
      sizeBytes,
      ...end,
    };
    // Absent properties are left out of the message, because each costs time.
    if (this.#row.isCounted) message.counters = SOURCE_COUNTERS.map((one) => this.#counters[one]);
    if (this.#partial.length > 0) message.partial = this.#partial.splice(0);
    this.#options.answer(message, transfer);
  }

  #versions({ filter: { database } }: SchemaRequest): Versions {
    const { versions } = this.#options;
    return { names: versions.of(database, 'names'), series: versions.of(database, 'series') };
  }

  /**
   * The versions that the answer of a schema look-up belongs to; `undefined` when the schema has
   * changed since `before`, or the answer is partial.
   */
  async #schemaState(before: Versions): Promise<SchemaState | undefined> {
    if (this.#isPartial) return undefined;
    const request = this.#message.request as SchemaRequest;
    const { database } = request.filter;
    const infos = this.#message.wantsShards === true ? await this.#options.shards() : undefined;
    const scope = this.#isSettled === true ? 'names' : 'series';
    if (this.#versions(request)[scope] !== before[scope]) return undefined;
    const shards = infos
      ?.filter((info) => info.database === database)
      .map(({ retentionPolicy, start, end }) => ({ retentionPolicy, start, end }));
    return { stamp: { scope, version: before[scope] }, shards };
  }
}

/** The memory of a read, which the other side grants. */
class GrantedMemory implements SourceMemory {
  readonly #id: number;
  readonly #ask: (message: FromEngine) => void;
  grantedBytes: number;
  #proceed: () => void = () => undefined;

  constructor(id: number, grantedBytes: number, ask: (message: FromEngine) => void) {
    this.#id = id;
    this.#ask = ask;
    this.grantedBytes = grantedBytes;
  }

  ask(sizeBytes: number): Promise<void> {
    this.#ask({ kind: 'ask', id: this.#id, sizeBytes });
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
