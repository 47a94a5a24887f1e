// What alerting keeps on disk: states of events, definitions of handlers, the outbox and the dead letters. Four tables
// of the service's LMDB file, values as JSON text. Calls return at once; `flushed` resolves when all is on disk.
import { createHash } from 'node:crypto';
import type { Database, RootDatabase } from 'lmdb';
import type { AlertLevelName } from '@tidemark/runtime';
import { Corruption } from '@tidemark/core';
import type { EventState, TopicEvent } from './event.ts';
import { decodeEvent, encodeEvent } from './event.ts';
import type { HandlerSpec } from './handler-spec.ts';
import { DEAD_LETTERS, KEY_BYTES_MAX } from './limits.ts';

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
  readonly reason: string;
  /** Wall time in nanoseconds. */
  readonly time: bigint;
};

type StoredEntry = { readonly handler: string; readonly event: string; readonly step: number };
type StoredLetter = StoredEntry & { readonly reason: string; readonly time: string };
type StoredState = {
  readonly id: string;
  readonly message: string;
  readonly details: string;
  readonly time: string;
  readonly duration: string;
  readonly level: AlertLevelName;
};

export class AlertStore {
  readonly #root: RootDatabase;
  readonly #states: Database<StoredState, [string, string]>;
  readonly #specs: Database<HandlerSpec, [string, string]>;
  readonly #outbox: Database<StoredEntry, number>;
  readonly #letters: Database<StoredLetter, number>;
  #nextSequence: number;
  #letterCount: number;

  constructor(root: RootDatabase) {
    this.#root = root;
    this.#states = root.openDB({ name: 'topic-events', encoding: 'json' });
    this.#specs = root.openDB({ name: 'handler-specs', encoding: 'json' });
    this.#outbox = root.openDB({ name: 'outbox', encoding: 'json' });
    this.#letters = root.openDB({ name: 'dead-letters', encoding: 'json' });
    this.#nextSequence = 1 + Math.max(lastKey(this.#outbox), lastKey(this.#letters));
    this.#letterCount = this.#letters.getKeysCount();
  }

  /** Resolves when everything written so far is on disk. */
  async flushed(): Promise<void> {
    await this.#root.flushed;
  }

  /** All remembered states, topic by topic. */
  *states(): Iterable<{ readonly topic: string; readonly id: string; readonly state: EventState }> {
    for (const { key, value } of this.#states.getRange()) {
      const { id, message, details, level } = value;
      const state: EventState = {
        message,
        details,
        level,
        time: readInt(value.time, `state of event ${id}`),
        durationNanos: readInt(value.duration, `state of event ${id}`),
      };
      yield { topic: key[0], id, state };
    }
  }

  /** Remembers a state; an event that is OK is forgotten, after a restart it is as good as never seen. */
  putState(topic: string, id: string, state: EventState): Promise<boolean> {
    const key = keyOf(topic, id);
    if (state.level === 'OK') return this.#states.remove(key);
    return this.#states.put(key, {
      id,
      message: state.message,
      details: state.details,
      time: String(state.time),
      duration: String(state.durationNanos),
      level: state.level,
    });
  }

  /** Forgets all states of a topic. */
  async deleteStates(topic: string): Promise<void> {
    const keys = [...this.#states.getKeys({ start: [topic, ''], end: [topic, '\uffff'] })];
    await this.#root.transaction(() => {
      for (const key of keys) void this.#states.remove(key);
    });
  }

  *specs(): Iterable<{ readonly topic: string; readonly spec: HandlerSpec }> {
    for (const { key, value } of this.#specs.getRange()) yield { topic: key[0], spec: value };
  }

  /** Stores a definition; resolves when it is on disk. `replaces` is an older id that goes in the same transaction. */
  async putSpec(topic: string, spec: HandlerSpec, replaces?: string): Promise<void> {
    await this.#root.transaction(() => {
      if (replaces !== undefined && replaces !== spec.id)
        void this.#specs.remove(keyOf(topic, replaces));
      void this.#specs.put(keyOf(topic, spec.id), spec);
    });
    await this.flushed();
  }

  async deleteSpec(topic: string, id: string): Promise<void> {
    await this.#specs.remove(keyOf(topic, id));
    await this.flushed();
  }

  /** Entries left by the last run, oldest first. */
  *outbox(): Iterable<OutboxEntry> {
    for (const { key, value } of this.#outbox.getRange()) {
      yield {
        sequence: key,
        handlerKey: value.handler,
        event: decodeEvent(value.event),
        step: value.step,
      };
    }
  }

  /** Adds an entry; it is in the file before the process answers for anything later. */
  append(handlerKey: string, event: TopicEvent, step: number): OutboxEntry {
    const sequence = this.#nextSequence++;
    this.#keep(
      this.#outbox.put(sequence, { handler: handlerKey, event: encodeEvent(event), step }),
    );
    return { sequence, handlerKey, event, step };
  }

  /** Removes entries that were delivered or replaced. */
  remove(sequences: readonly number[]): void {
    for (const sequence of sequences) this.#keep(this.#outbox.remove(sequence));
  }

  /** Moves an entry to the dead letters. */
  bury(entry: OutboxEntry, reason: string, time: bigint): void {
    const { sequence, handlerKey, event, step } = entry;
    this.#keep(
      this.#letters.put(sequence, {
        handler: handlerKey,
        event: encodeEvent(event),
        step,
        reason,
        time: String(time),
      }),
    );
    this.remove([sequence]);
    this.#letterCount++;
    if (this.#letterCount > DEAD_LETTERS.value) {
      for (const oldest of this.#letters.getKeys({ limit: 1 })) {
        this.#keep(this.#letters.remove(oldest));
        this.#letterCount--;
      }
    }
  }

  /** Dead letters, newest first. */
  deadLetters(limit: number): readonly DeadLetter[] {
    const found: DeadLetter[] = [];
    for (const { key, value } of this.#letters.getRange({ reverse: true, limit })) {
      found.push({
        sequence: key,
        handlerKey: value.handler,
        event: decodeEvent(value.event),
        reason: value.reason,
        time: readInt(value.time, `dead letter ${key}`),
      });
    }
    return found;
  }

  // A write that fails fails the whole environment; the owner of the root sees it on its next awaited write.
  #keep(write: Promise<boolean>): void {
    write.catch(() => undefined);
  }
}

function keyOf(topic: string, id: string): [string, string] {
  if (Buffer.byteLength(topic) + Buffer.byteLength(id) <= KEY_BYTES_MAX) return [topic, id];
  return [topic, `#${createHash('sha256').update(id).digest('hex')}`];
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
