// What alerting keeps on disk: states of events, definitions of handlers, the outbox and the dead letters. Four tables
// of the service's LMDB file, values as JSON text. Changes that belong together are one batch; batches of the same
// moment share one commit and one sync, and their promises resolve, in order, when that sync is done.
import { createHash } from 'node:crypto';
import type { Database, RootDatabase } from 'lmdb';
import type { AlertLevelName } from '@tidemark/runtime';
import { Corruption } from '@tidemark/core';
import type { EventState, EventSummary, EventTexts, TopicEvent } from './event.ts';
import { decodeEvent, encodeEvent, quoteTexts } from './event.ts';
import type { HandlerSpec } from './handler-spec.ts';
import { DEAD_LETTERS, KEY_BYTES_MAX } from './limits.ts';
import { TextSlab } from './text-slab.ts';

/** An event that a handler still has to deliver. `step` is the position in the handler's chain of actions. */
export type OutboxEntry = {
  readonly sequence: number;
  readonly handlerKey: string;
  readonly event: TopicEvent;
  readonly step: number;
};

/** An event that was given up. */
export type DeadLetter = {
  readonly sequence: number;
  readonly handlerKey: string;
  readonly event: TopicEvent;
  /** The action of the handler's chain that failed. */
  readonly step: number;
  readonly reason: string;
  /** Wall time in nanoseconds. */
  readonly time: bigint;
};

type StoredLetter = {
  readonly handler: string;
  readonly event: string;
  readonly step: number;
  readonly reason: string;
  readonly time: string;
};
type StoredState = {
  readonly id: string;
  readonly message: string;
  readonly details: string;
  readonly time: string;
  readonly duration: string;
  readonly level: AlertLevelName;
};

/** What one collected event changes: the state of its topic, and an entry for each handler that wants it. */
export type Collected = {
  readonly topic: string;
  readonly event: TopicEvent;
  /** Whether the topic's state is kept on disk. */
  readonly isPersistent: boolean;
  readonly handlerKeys: readonly string[];
};

type Key = [string, string | number];

/**
 * Takes room on the disk for a write before it begins; what it gives is called when the write has ended. Throws
 * `Unavailable` when there is none.
 */
export type TakeRoom = (size: { readonly entries: number; readonly bytes: number }) => () => void;

/** One entry that is put, or removed when it has no value; or any changes. */
type Change = EntryChange | ManyChanges;
type ManyChanges = {
  readonly entries: number;
  readonly bytes: number;
  readonly apply: () => void;
};
type EntryChange = {
  readonly table: Database<Buffer, Key>;
  readonly key: Key;
  readonly value: Buffer | undefined;
};

export class AlertStore {
  readonly #root: RootDatabase;
  readonly #takeRoom: TakeRoom | undefined;
  /** Values are `StoredState` as JSON. */
  readonly #states: Database<Buffer, Key>;
  readonly #specs: Database<HandlerSpec, [string, string]>;
  /** Values are lines: the step, the handler's key, the event as JSON. */
  readonly #outbox: Database<Buffer, Key>;
  readonly #letters: Database<StoredLetter, number>;
  #nextSequence: number;
  #letterCount: number;
  readonly #slab = new TextSlab();
  /** Changes of this turn of the event loop; they become one batch at its end. */
  #pending: Change[] = [];
  #stored: Promise<void> = Promise.resolve();

  /** Without `takeRoom` it is LMDB that meets a full disk. */
  constructor(root: RootDatabase, takeRoom?: TakeRoom) {
    this.#root = root;
    this.#takeRoom = takeRoom;
    this.#states = root.openDB({ name: 'topic-events', encoding: 'binary' });
    this.#specs = root.openDB({ name: 'handler-specs', encoding: 'json' });
    this.#outbox = root.openDB({ name: 'outbox', encoding: 'binary' });
    this.#letters = root.openDB({ name: 'dead-letters', encoding: 'json' });
    let highest = lastKey(this.#letters);
    for (const [, sequence] of this.#outbox.getKeys())
      highest = Math.max(highest, Number(sequence));
    this.#nextSequence = 1 + highest;
    this.#letterCount = this.#letters.getKeysCount();
  }

  /** Resolves when everything written so far is on disk; rejects when the last of it could not be written. */
  async flushed(): Promise<void> {
    await this.#stored;
    await this.#root.flushed;
  }

  /** Level and times of all remembered events, topic by topic. Their texts stay on disk: `texts`. */
  *states(): Iterable<{
    readonly topic: string;
    readonly id: string;
    readonly state: EventSummary;
  }> {
    for (const { key, value } of this.#states.getRange()) {
      const { id, level, time, duration } = readState(value);
      const state: EventSummary = {
        level,
        time: readInt(time, `state of event ${id}`),
        durationNanos: readInt(duration, `state of event ${id}`),
      };
      yield { topic: key[0], id, state };
    }
  }

  /** Message and details of a remembered event. */
  texts(topic: string, id: string): EventTexts | undefined {
    const stored = this.#states.get(keyOf(topic, id));
    return stored === undefined ? undefined : readState(stored);
  }

  /** Remembers a state; resolves when it is on disk. */
  async putState(topic: string, id: string, state: EventState): Promise<void> {
    await this.#write(this.#stateChange(topic, id, state));
  }

  /** Forgets one state. */
  async deleteState(topic: string, id: string): Promise<void> {
    await this.#write({ table: this.#states, key: keyOf(topic, id), value: undefined });
  }

  /** Forgets all states of a topic. */
  async deleteStates(topic: string): Promise<void> {
    const keys = [...this.#states.getKeys({ start: [topic, ''], end: [topic, '\uffff'] })];
    await this.#write({
      entries: keys.length,
      bytes: 0,
      apply: () => {
        for (const key of keys) void this.#states.remove(key);
      },
    });
  }

  *specs(): Iterable<{ readonly topic: string; readonly spec: HandlerSpec }> {
    for (const { key, value } of this.#specs.getRange()) yield { topic: key[0], spec: value };
  }

  /** Stores a definition; resolves when it is on disk. `replaces` is an older id that goes in the same batch. */
  async putSpec(topic: string, spec: HandlerSpec, replaces?: string): Promise<void> {
    await this.#write({
      entries: 2,
      bytes: Buffer.byteLength(JSON.stringify(spec)),
      apply: () => {
        if (replaces !== undefined && replaces !== spec.id)
          void this.#specs.remove(keyOf(topic, replaces));
        void this.#specs.put(keyOf(topic, spec.id), spec);
      },
    });
  }

  async deleteSpec(topic: string, id: string): Promise<void> {
    await this.#write({
      entries: 1,
      bytes: 0,
      apply: () => void this.#specs.remove(keyOf(topic, id)),
    });
  }

  /** The highest sequence number that was given out. */
  get lastSequence(): number {
    return this.#nextSequence - 1;
  }

  /** How many entries up to a sequence number a handler has on disk. */
  waitingCount(handlerKey: string, through = this.lastSequence): number {
    return this.#outbox.getKeysCount(rangeOf(handlerKey, 0, through));
  }

  /** Entries of a handler after a sequence number, oldest first. Only what is on disk already is seen. */
  waiting(handlerKey: string, after: number, limit: number): readonly OutboxEntry[] {
    const found: OutboxEntry[] = [];
    for (const { key, value } of this.#outbox.getRange({
      ...rangeOf(handlerKey, after + 1),
      limit,
    })) {
      const { step, event } = readEntry(value);
      found.push({ sequence: Number(key[1]), handlerKey, event: decodeEvent(event), step });
    }
    return found;
  }

  /** Handlers that have entries and whose key begins so. */
  handlerKeys(prefix: string): ReadonlySet<string> {
    const keys = new Set<string>();
    const plain = { start: [prefix, 0], end: [`${prefix}\uffff`, 0] } as const;
    const hashed = { start: [HASHED, 0], end: [`${HASHED}\uffff`, 0] } as const;
    for (const range of [plain, hashed]) {
      for (const { value } of this.#outbox.getRange({
        start: [...range.start],
        end: [...range.end],
      })) {
        const { handlerKey } = readEntry(value);
        if (handlerKey.startsWith(prefix)) keys.add(handlerKey);
      }
    }
    return keys;
  }

  /**
   * Keeps an event: its state and its entries, all or nothing. `stored` resolves when they are on disk, and rejects
   * when they could not be written.
   */
  collect({ topic, event, isPersistent, handlerKeys }: Collected): {
    readonly entries: readonly OutboxEntry[];
    readonly stored: Promise<void>;
  } {
    // Bytes at once: texts that wait for the end of the turn would survive collections of the young heap.
    const texts = quoteTexts(event);
    const entries = handlerKeys.map((handlerKey) => this.#entry(handlerKey, event, 0));
    const json = entries.length === 0 ? '' : encodeEvent(event, texts);
    const changes: Change[] = entries.map((entry) => this.#entryChange(entry, json));
    if (isPersistent) changes.push(this.#stateChange(topic, event.id, event, texts));
    return { entries, stored: this.#write(...changes) };
  }

  /** Puts `event` in the place of entries that were combined into it; without event they are removed. */
  replace(
    held: readonly OutboxEntry[],
    next:
      | { readonly handlerKey: string; readonly event: TopicEvent; readonly step: number }
      | undefined,
  ): { readonly entry: OutboxEntry | undefined; readonly stored: Promise<void> } {
    const entry =
      next === undefined ? undefined : this.#entry(next.handlerKey, next.event, next.step);
    const changes = held.map((one) => this.#removal(one));
    if (entry !== undefined) changes.push(this.#entryChange(entry, encodeEvent(entry.event)));
    return { entry, stored: this.#write(...changes) };
  }

  /** Notes how far in its handler's chain an entry is, so that a restart does not repeat what was done. */
  update(entry: OutboxEntry): Promise<void> {
    return this.#write(this.#entryChange(entry, encodeEvent(entry.event)));
  }

  /** Removes an entry that was delivered. Returns at once; `flushed` waits for it. */
  remove(entry: OutboxEntry): void {
    this.#forget(this.#write(this.#removal(entry)));
  }

  /** Removes everything that waits for a handler. */
  async removeAll(handlerKey: string): Promise<void> {
    await this.#write({
      entries: this.waitingCount(handlerKey),
      bytes: 0,
      apply: () => {
        for (const key of this.#outbox.getKeys(rangeOf(handlerKey, 0)))
          void this.#outbox.remove(key);
      },
    });
  }

  /** Hands what waits for one handler to another; the chains differ, so each entry begins anew. */
  async rekey(from: string, to: string): Promise<void> {
    let entries = 0;
    let bytes = 0;
    for (const { value } of this.#outbox.getRange(rangeOf(from, 0))) {
      entries += 2;
      bytes += value.length + Buffer.byteLength(to);
    }
    await this.#write({
      entries,
      bytes,
      apply: () => {
        for (const { key, value } of this.#outbox.getRange(rangeOf(from, 0))) {
          void this.#outbox.remove(key);
          const entry = printEntry(to, 0, readEntry(value).event);
          void this.#outbox.put([shortKey(to), key[1]], this.#slab.encode(entry));
        }
      },
    });
  }

  /** Moves an entry to the dead letters. Returns at once; `flushed` waits for it. */
  bury(entry: OutboxEntry, reason: string, time: bigint): void {
    const { sequence, handlerKey, event, step } = entry;
    this.#letterCount++;
    const isOver = this.#letterCount > DEAD_LETTERS.value;
    const oldest = isOver ? [...this.#letters.getKeys({ limit: 1 })] : [];
    this.#letterCount -= oldest.length;
    const letter: StoredLetter = {
      handler: handlerKey,
      event: encodeEvent(event),
      step,
      reason,
      time: String(time),
    };
    const change: ManyChanges = {
      entries: 1 + oldest.length,
      bytes: Buffer.byteLength(JSON.stringify(letter)),
      apply: () => {
        void this.#letters.put(sequence, letter);
        for (const key of oldest) void this.#letters.remove(key);
      },
    };
    this.#forget(this.#write(change, this.#removal(entry)));
  }

  get letterCount(): number {
    return this.#letterCount;
  }

  /** Dead letters, newest first. */
  *deadLetters(): Iterable<DeadLetter> {
    for (const { key, value } of this.#letters.getRange({ reverse: true })) {
      yield {
        sequence: key,
        handlerKey: value.handler,
        event: decodeEvent(value.event),
        step: value.step,
        reason: value.reason,
        time: readInt(value.time, `dead letter ${key}`),
      };
    }
  }

  /** Gives a dead letter back to the outbox of its handler, behind everything that waits there. */
  exhume({ sequence, handlerKey, event, step }: DeadLetter): {
    readonly entry: OutboxEntry;
    readonly stored: Promise<void>;
  } {
    const entry = this.#entry(handlerKey, event, step);
    const change = this.#entryChange(entry, encodeEvent(event));
    return { entry, stored: this.#write(this.#letterRemoval([sequence]), change) };
  }

  /** Removes dead letters; resolves when they are gone from the disk. */
  async removeLetters(sequences: readonly number[]): Promise<void> {
    await this.#write(this.#letterRemoval(sequences));
  }

  #letterRemoval(sequences: readonly number[]): ManyChanges {
    this.#letterCount -= sequences.length;
    return {
      entries: sequences.length,
      bytes: 0,
      apply: () => {
        for (const sequence of sequences) void this.#letters.remove(sequence);
      },
    };
  }

  #entry(handlerKey: string, event: TopicEvent, step: number): OutboxEntry {
    return { sequence: this.#nextSequence++, handlerKey, event, step };
  }

  #entryChange({ handlerKey, sequence, step }: OutboxEntry, json: string): EntryChange {
    const value = this.#slab.encode(printEntry(handlerKey, step, json));
    return { table: this.#outbox, key: [shortKey(handlerKey), sequence], value };
  }

  #removal({ handlerKey, sequence }: OutboxEntry): EntryChange {
    return { table: this.#outbox, key: [shortKey(handlerKey), sequence], value: undefined };
  }

  #stateChange(
    topic: string,
    id: string,
    state: EventState,
    texts = quoteTexts({ ...state, id }),
  ): EntryChange {
    const json =
      `{"id":${texts.id},"message":${texts.message},"details":${texts.details}` +
      `,"time":"${state.time}","duration":"${state.durationNanos}","level":"${state.level}"}`;
    return { table: this.#states, key: keyOf(topic, id), value: this.#slab.encode(json) };
  }

  // All or nothing; resolves when it is on disk. Changes of one turn share a batch and its promise.
  #write(...changes: Change[]): Promise<void> {
    const isFirst = this.#pending.length === 0;
    this.#pending.push(...changes);
    if (!isFirst) return this.#stored;
    this.#stored = Promise.resolve().then(async () => {
      const pending = this.#pending;
      this.#pending = [];
      const release = this.#takeRoom?.(sizeOf(pending));
      try {
        await this.#root.batch(() => {
          for (const change of pending) apply(change);
        });
      } finally {
        release?.();
      }
    });
    return this.#stored;
  }

  // Nobody waits for this write. Should it fail, the entry is still in the outbox: it is delivered once more after the
  // next start, which is what at least once means; `flushed` and the next awaited write report the failure.
  #forget(write: Promise<void>): void {
    write.catch(() => undefined);
  }
}

function sizeOf(changes: readonly Change[]): { entries: number; bytes: number } {
  let entries = 0;
  let bytes = 0;
  for (const change of changes) {
    entries += 'apply' in change ? change.entries : 1;
    bytes += 'apply' in change ? change.bytes : (change.value?.length ?? 0);
  }
  return { entries, bytes };
}

function apply(change: Change): void {
  if ('apply' in change) change.apply();
  else if (change.value === undefined) void change.table.remove(change.key);
  else void change.table.put(change.key, change.value);
}

function readState(bytes: Buffer): StoredState {
  return JSON.parse(bytes.toString('utf8')) as StoredState;
}

function printEntry(handlerKey: string, step: number, eventJson: string): string {
  return `${step}\n${handlerKey}\n${eventJson}`;
}

function readEntry(bytes: Buffer): {
  readonly step: number;
  readonly handlerKey: string;
  readonly event: string;
} {
  const text = bytes.toString('utf8');
  const first = text.indexOf('\n');
  const second = text.indexOf('\n', first + 1);
  if (second < 0)
    throw new Corruption('entry of the outbox is cut', { file: 'engine.mdb', offset: 0 });
  return {
    step: Number(text.slice(0, first)),
    handlerKey: text.slice(first + 1, second),
    event: text.slice(second + 1),
  };
}

// Begins keys that stand for longer ones; no topic begins so.
const HASHED = '#';

function keyOf(topic: string, id: string): [string, string] {
  if (Buffer.byteLength(topic) + Buffer.byteLength(id) <= KEY_BYTES_MAX) return [topic, id];
  return [topic, HASHED + createHash('sha256').update(id).digest('hex')];
}

// Ids and topics of the greatest length do not fit a key together.
function shortKey(handlerKey: string): string {
  if (Buffer.byteLength(handlerKey) <= KEY_BYTES_MAX) return handlerKey;
  return HASHED + createHash('sha256').update(handlerKey).digest('hex');
}

function rangeOf(
  handlerKey: string,
  first: number,
  last = Number.MAX_SAFE_INTEGER - 1,
): { readonly start: Key; readonly end: Key } {
  const key = shortKey(handlerKey);
  return { start: [key, first], end: [key, last + 1] };
}

function lastKey(database: Database<unknown, number>): number {
  for (const key of database.getKeys({ reverse: true, limit: 1 })) return key;
  return 0;
}

function readInt(text: string, what: string): bigint {
  if (!/^-?\d{1,20}$/.test(text)) {
    throw new Corruption(`${what} holds no integer`, { file: 'engine.mdb', offset: 0 });
  }
  return BigInt(text);
}
