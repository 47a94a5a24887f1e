// The data of alerting on disk: states of events, definitions of handlers, the outbox, dead
// letters, the causes of the last events, and the origins of topics. Six tables of the service's
// store, values as JSON text. Related changes share one transaction; changes that arrive during a
// transaction share the next one. Changes are kept in memory until the disk accepts them
// (`pending-changes.ts`).
import type { EventCause, StateSource } from '@tidemark/runtime';
import { Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { AlertEntries, EntryKey, EntryTable } from './alert-entries.ts';
import {
  keyOf,
  printCause,
  printEntry,
  printLetter,
  encodeState,
  rangeOf,
  rangesOfPrefix,
  readCause,
  readEntry,
  readLetter,
  readSummary,
  readTexts,
  shortKey,
} from './alert-records.ts';
import type { Letter, PairKey } from './alert-records.ts';
import type { AlertLog } from './attached-handlers.ts';
import type { EventState, EventSummary, EventTexts, QuotedTexts, TopicEvent } from './event.ts';
import { decodeEvent, encodeEvent, quoteTexts } from './event.ts';
import type { HandlerSpec } from './handler-spec.ts';
import { PendingChanges } from './pending-changes.ts';
import type { EntryChange } from './pending-changes.ts';
import { DEAD_LETTERS } from './limits.ts';
import { TextSlab } from './text-slab.ts';

/**
 * An event that a handler still has to deliver. `step` is the position in the handler's chain of
 * actions.
 */
export type OutboxEntry = {
  readonly sequence: number;
  readonly handlerKey: string;
  readonly event: TopicEvent;
  readonly step: number;
};

/** An event that could not be delivered. */
export type DeadLetter = Letter & { readonly sequence: number };

/**
 * The changes of one collected event: the state of its topic, and an entry for each handler that
 * accepts it.
 */
export type Collected = {
  readonly topic: string;
  readonly event: TopicEvent;
  /** The cause of the last event of its unit from now on. */
  readonly cause?: EventCause | undefined;
  /** Whether the topic's state is kept on disk. */
  readonly isPersistent: boolean;
  readonly handlerKeys: readonly string[];
  readonly onStored?: (() => void) | undefined;
};

export type AlertStoreOptions = {
  readonly clock: Clock;
  readonly log: AlertLog;
};

export class AlertStore {
  readonly #entries: AlertEntries;
  /** By topic and id (`keyOf`); values are those of `encodeState`. */
  readonly #states: EntryTable<PairKey>;
  /** By topic and id; values are JSON. */
  readonly #specs: EntryTable<PairKey>;
  /** By handler and sequence (`rangeOf`); values are those of `printEntry`. */
  readonly #outbox: EntryTable<PairKey>;
  /** By sequence; values are those of `printLetter`. */
  readonly #letters: EntryTable<number>;
  /** By unit, the cause of the last event that it has published (`printCause`). */
  readonly #causes: EntryTable<string>;
  /** By topic, the databases that its events come from; a list as JSON. */
  readonly #origins: EntryTable<string>;
  readonly #kept: PendingChanges;
  #nextSequence: number;
  #letterCount: number;
  readonly #slab = new TextSlab();

  constructor(entries: AlertEntries, { clock, log }: AlertStoreOptions) {
    this.#entries = entries;
    this.#kept = new PendingChanges({ commit: (changes) => this.#commit(changes), clock, log });
    this.#states = entries.states;
    this.#specs = entries.specs;
    this.#outbox = entries.outbox;
    this.#letters = entries.letters;
    this.#causes = entries.causes;
    this.#origins = entries.origins;
    let highest = [...this.#letters.keys({ reverse: true, limit: 1 })][0] ?? 0;
    for (const [, sequence] of this.#outbox.keys()) highest = Math.max(highest, Number(sequence));
    this.#nextSequence = 1 + highest;
    this.#letterCount = this.#letters.count();
  }

  /** Resolves when everything so far is on disk, rejects on failure; `undefined` when it is. */
  get stored(): Promise<void> | undefined {
    return this.#kept.stored;
  }

  /** Tries a last time to write what is not on disk. Rejects when that fails. */
  close(): Promise<void> {
    return this.#kept.close();
  }

  /**
   * Level and times of all remembered events, topic by topic. Their texts stay on disk: `texts`.
   */
  *states(): Iterable<{
    readonly topic: string;
    readonly id: string;
    readonly state: EventSummary;
  }> {
    for (const { key, value } of this.#states.range()) {
      const { id, ...state } = readSummary(value);
      yield { topic: key[0], id, state };
    }
  }

  /** Message and details of a remembered event. */
  texts(topic: string, id: string): EventTexts | undefined {
    const stored = this.#states.get(keyOf(topic, id));
    return stored === undefined ? undefined : readTexts(stored);
  }

  /**
   * Stores a state; resolves when it is on disk. Then `onStored` is called, however late that is.
   */
  putState(topic: string, id: string, state: EventState, onStored?: () => void): Promise<void> {
    const texts = quoteTexts({ ...state, id });
    return this.#kept.keep([this.#stateChange(topic, { ...state, id }, texts, onStored)]);
  }

  /** Deletes one state. Returns at once; `stored` waits for it. */
  deleteState(topic: string, id: string): void {
    this.#forget({ table: this.#states, key: keyOf(topic, id), value: undefined });
  }

  /** Deletes all states of a topic. */
  async deleteStates(topic: string): Promise<void> {
    await this.#kept.between(async () => {
      await this.#removeAll(
        this.#states,
        this.#states.keys({ start: [topic, ''], end: [topic, '\uffff'] }),
      );
      this.#kept.forget(this.#states, ([ofTopic]) => ofTopic === topic);
    });
  }

  /** The cause of the last stored event of each unit. */
  *causes(): Iterable<EventCause> {
    for (const { key: unit, value } of this.#causes.range()) yield readCause(unit, value);
  }

  /** Deletes it. Returns at once; `stored` waits for it. */
  deleteCause(unit: string): void {
    this.#forget({ table: this.#causes, key: unit, value: undefined });
  }

  *origins(): Iterable<{ readonly topic: string; readonly databases: readonly string[] }> {
    for (const { key: topic, value } of this.#origins.range())
      yield { topic, databases: JSON.parse(value.toString('utf8')) as readonly string[] };
  }

  /** Stores them. Returns at once; later changes are not on disk earlier. */
  putOrigins(topic: string, databases: readonly string[]): void {
    const value = this.#slab.encode(JSON.stringify(databases));
    this.#forget({ table: this.#origins, key: topic, value });
  }

  /** Deletes them. Returns at once; `flushed` waits for it. */
  deleteOrigins(topic: string): void {
    this.#forget({ table: this.#origins, key: topic, value: undefined });
  }

  *specs(): Iterable<{ readonly topic: string; readonly spec: HandlerSpec }> {
    for (const { key, value } of this.#specs.range()) {
      yield { topic: key[0], spec: JSON.parse(value.toString('utf8')) as HandlerSpec };
    }
  }

  /**
   * Stores a definition; resolves when it is on disk. `replaces` is an older id that is removed in
   * the same batch.
   */
  async putSpec(topic: string, spec: HandlerSpec, replaces?: string): Promise<void> {
    const isRenamed = replaces !== undefined && replaces !== spec.id;
    const value = Buffer.from(JSON.stringify(spec));
    await this.#commit([
      ...(isRenamed ? [{ table: this.#specs, key: keyOf(topic, replaces), value: undefined }] : []),
      { table: this.#specs, key: keyOf(topic, spec.id), value },
    ]);
  }

  async deleteSpec(topic: string, id: string): Promise<void> {
    await this.#commit([{ table: this.#specs, key: keyOf(topic, id), value: undefined }]);
  }

  /** The highest sequence number so far. */
  get lastSequence(): number {
    return this.#nextSequence - 1;
  }

  /** Number of a handler's entries in the outbox up to a sequence number. */
  waitingCount(handlerKey: string, through = this.lastSequence): number {
    let count = this.#outbox.count(rangeOf(handlerKey, 0, through));
    for (const { key, value } of this.#unstored(handlerKey)) {
      if (Number(key[1]) > through) continue;
      const isOnDisk = this.#outbox.has(key);
      if (value === undefined) count -= isOnDisk ? 1 : 0;
      else count += isOnDisk ? 0 : 1;
    }
    return count;
  }

  /**
   * Entries of a handler after a sequence number, oldest first. Includes only those on disk, and
   * those that could not be written.
   */
  waiting(handlerKey: string, after: number, limit: number): readonly OutboxEntry[] {
    const unstored = new Map<number, Buffer | undefined>();
    for (const { key, value } of this.#unstored(handlerKey)) {
      if (Number(key[1]) > after) unstored.set(Number(key[1]), value);
    }
    const found: (readonly [sequence: number, value: Buffer])[] = [];
    for (const [sequence, value] of unstored)
      if (value !== undefined) found.push([sequence, value]);
    let left = limit;
    for (const { key, value } of this.#outbox.range(rangeOf(handlerKey, after + 1))) {
      if (left === 0) break;
      if (unstored.has(Number(key[1]))) continue;
      found.push([Number(key[1]), value]);
      left--;
    }
    return found
      .sort(([a], [b]) => a - b)
      .slice(0, limit)
      .map(([sequence, value]) => {
        const { step, event } = readEntry(value);
        return { sequence, handlerKey, event: decodeEvent(event), step };
      });
  }

  /** Handlers with entries whose key has a prefix. */
  handlerKeys(prefix: string): ReadonlySet<string> {
    const keys = new Set<string>();
    const add = (value: Buffer): void => {
      const { handlerKey } = readEntry(value);
      if (handlerKey.startsWith(prefix)) keys.add(handlerKey);
    };
    for (const range of rangesOfPrefix(prefix))
      for (const { value } of this.#outbox.range(range)) add(value);
    for (const { value } of this.#kept.failed(this.#outbox)) if (value !== undefined) add(value);
    return keys;
  }

  /**
   * Stores an event: its state, its entries and its cause, all or nothing. `stored` resolves when
   * they are on disk, and rejects when they could not be written yet. `onStored` is called when the
   * state is on disk.
   */
  collect({ topic, event, cause, isPersistent, handlerKeys, onStored }: Collected): {
    readonly entries: readonly OutboxEntry[];
    readonly stored: Promise<void>;
  } {
    // Encoded at once: texts that wait for the end of the turn would survive collections of the
    // young heap.
    const texts = quoteTexts(event);
    const entries = handlerKeys.map((handlerKey) => this.#entry(handlerKey, event, 0));
    const json = entries.length === 0 ? '' : encodeEvent(event, texts);
    const changes: EntryChange[] = entries.map((entry) => this.#entryChange(entry, json));
    if (isPersistent) changes.push(this.#stateChange(topic, event, texts, onStored));
    if (cause !== undefined) changes.push(this.#causeChange(cause));
    return { entries, stored: this.#kept.keep(changes) };
  }

  /**
   * Replaces entries by the event into which they were combined; without event they are removed.
   */
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
    return { entry, stored: this.#kept.keep(changes) };
  }

  /**
   * Records how far an entry is in its handler's chain, so that a restart does not repeat finished
   * steps.
   */
  update(entry: OutboxEntry): Promise<void> {
    return this.#kept.keep([this.#entryChange(entry, encodeEvent(entry.event))]);
  }

  /** Removes a delivered entry. Returns at once; `stored` waits for it. */
  remove(entry: OutboxEntry): void {
    this.#forget(this.#removal(entry));
  }

  /** Removes all entries of a handler. */
  async removeAll(handlerKey: string): Promise<void> {
    await this.#kept.between(async () => {
      await this.#removeAll(this.#outbox, this.#outbox.keys(rangeOf(handlerKey, 0)));
      this.#kept.forget(this.#outbox, ([ofHandler]) => ofHandler === shortKey(handlerKey));
    });
  }

  /** Moves one handler's entries to another; the chains differ, so each entry starts again. */
  async rekey(from: string, to: string): Promise<void> {
    await this.#kept.between(async () => {
      for (const _ of this.#unstored(from)) {
        throw new Unavailable('the handler has events that could not be written to the disk yet');
      }
      const changes: EntryChange[] = [];
      for (const { key, value } of this.#outbox.range(rangeOf(from, 0))) {
        changes.push({ table: this.#outbox, key, value: undefined });
        const entry = printEntry(to, 0, readEntry(value).event);
        const newKey: PairKey = [shortKey(to), key[1]];
        changes.push({ table: this.#outbox, key: newKey, value: this.#slab.encode(entry) });
      }
      await this.#commit(changes);
    });
  }

  /** Moves an entry to the dead letters. Returns at once; `stored` waits for it. */
  moveToDeadLetters(entry: OutboxEntry, reason: string, time: bigint): void {
    const { sequence, handlerKey, event, step } = entry;
    this.#letterCount++;
    const isOver = this.#letterCount > DEAD_LETTERS.value;
    const oldest = isOver ? [...this.#letters.keys({ limit: 1 })] : [];
    this.#letterCount -= oldest.length;
    const letter = printLetter({ handlerKey, event, step, reason, time });
    this.#forget(
      { table: this.#letters, key: sequence, value: this.#slab.encode(letter) },
      ...oldest.map((key) => ({ table: this.#letters, key, value: undefined })),
      this.#removal(entry),
    );
  }

  get letterCount(): number {
    return this.#letterCount;
  }

  /** Dead letters, newest first. */
  *deadLetters(): Iterable<DeadLetter> {
    for (const { key, value } of this.#letters.range({ reverse: true })) {
      yield { sequence: key, ...readLetter(key, value) };
    }
  }

  /** Moves a dead letter back to the outbox of its handler, after all waiting entries. */
  requeue({ sequence, handlerKey, event, step }: DeadLetter): {
    readonly entry: OutboxEntry;
    readonly stored: Promise<void>;
  } {
    const entry = this.#entry(handlerKey, event, step);
    const change = this.#entryChange(entry, encodeEvent(event));
    return { entry, stored: this.#kept.keep([...this.#letterRemoval([sequence]), change]) };
  }

  /** Removes dead letters; resolves when they are gone from the disk. */
  async removeLetters(sequences: readonly number[]): Promise<void> {
    await this.#kept.between(() => this.#commit(this.#letterRemoval(sequences)));
  }

  #letterRemoval(sequences: readonly number[]): readonly EntryChange[] {
    this.#letterCount -= sequences.length;
    return sequences.map((key) => ({ table: this.#letters, key, value: undefined }));
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
    state: EventState & StateSource & { readonly id: string },
    texts: QuotedTexts,
    onStored: (() => void) | undefined,
  ): EntryChange {
    return {
      table: this.#states,
      key: keyOf(topic, state.id),
      value: this.#slab.encode(encodeState(state, texts)),
      onStored,
    };
  }

  #causeChange(cause: EventCause): EntryChange {
    const value = this.#slab.encode(printCause(cause));
    return { table: this.#causes, key: cause.unit, value };
  }

  /** A handler's entries that could not be written, and those whose removal could not be. */
  *#unstored(handlerKey: string): Iterable<EntryChange<PairKey>> {
    const short = shortKey(handlerKey);
    for (const change of this.#kept.failed(this.#outbox)) if (change.key[0] === short) yield change;
  }

  async #removeAll<K extends EntryKey>(table: EntryTable<K>, keys: Iterable<K>): Promise<void> {
    await this.#commit([...keys].map((key) => ({ table, key, value: undefined })));
  }

  // All or nothing; resolves when it is on disk.
  #commit(all: readonly EntryChange[]): Promise<void> {
    // The last event of a unit replaces earlier ones.
    const causes = new Map<EntryKey, EntryChange>();
    for (const change of all) if (this.#isCause(change)) causes.set(change.key, change);
    const changes = all.filter(
      (change) => !this.#isCause(change) || causes.get(change.key) === change,
    );
    return this.#entries.commit(
      changes.map(({ table, key, value }) => ({ table: table.name, key, value })),
    );
  }

  #isCause({ table }: EntryChange): boolean {
    return table.name === this.#causes.name;
  }

  // These are not awaited. If the process ends before they are on disk, an entry is still in the
  // outbox: it is delivered again after the next start, which is what at least once means.
  #forget(...changes: readonly EntryChange[]): void {
    this.#kept.keep(changes).catch(() => undefined);
  }
}
