// The points that a state contains, so that missing ones can be read from the database and nothing
// is counted twice (docs/adr/0011-catch-up.md). Points have timestamps but no sequence number, so
// the newest time of every recent series is stored: points of other series cannot still be in
// transit.
import { deserialize } from 'node:v8';
import type { Timestamp } from '@tidemark/core';
import { rowNumber } from './data/row-selection.ts';
import type { RowSelection } from './data/row-selection.ts';
import { HashIndex } from './data/hash-index.ts';
import type { Series, SeriesTable } from './data/series.ts';
import type { TaskPosition, TaskSnapshot, TaskState } from './running-task.ts';

const TIME_MIN_HIGH = -0x8000_0000;
const FIRST_CAPACITY = 8;

/** A text that identifies a series within a database and retention policy. Tags sorted by key. */
export function seriesText(
  name: string,
  tagKeys: readonly string[],
  tagValues: readonly string[],
): string {
  let text = name;
  for (let i = 0; i < tagKeys.length; i++) text += `\u0000${tagKeys[i]}\u0001${tagValues[i]}`;
  return text;
}

/** A text that identifies a database and retention policy. */
export function policyText(database: string, retentionPolicy: string): string {
  return `${database}\u0000${retentionPolicy}`;
}

/** The position of a state; `undefined` when it was taken without one. */
export function positionOf(state: TaskState): TaskPosition | undefined {
  return decodeState(state).position;
}

/** A state in decoded form. */
export function decodeState(state: TaskState): TaskSnapshot {
  return state instanceof Uint8Array ? (deserialize(state) as TaskSnapshot) : state;
}

/** Distinguishes the points in a state from those that its task has missed. */
export class ContainedPoints {
  readonly #times = new Map<string, ReadonlyMap<string, Timestamp>>();

  constructor(position: TaskPosition) {
    for (const { database, retentionPolicy, keys, times } of position.marks) {
      const byKey = new Map(keys.map((key, i) => [key, times[i] as bigint]));
      this.#times.set(policyText(database, retentionPolicy), byKey);
    }
  }

  /** The newest time of each series of a database and retention policy, by `seriesText`. */
  of(database: string, retentionPolicy: string): ReadonlyMap<string, Timestamp> {
    return this.#times.get(policyText(database, retentionPolicy)) ?? NO_TIMES;
  }
}

const NO_TIMES: ReadonlyMap<string, Timestamp> = new Map();

/** Newest times of the series of one database and retention policy. */
class Marks {
  readonly #table: SeriesTable;
  /** The first id of the table's epoch, which ids are relative to. */
  #firstId: number;
  /** Of the series with marks, by their ids in the epoch: a task may read few of very many. */
  #index = new HashIndex();
  readonly #series: Series[] = [];
  /** The two halves of the newest time of each of them. */
  #halves = new Int32Array(0);
  /** Series of an earlier epoch of the table, or of the restored state. */
  #older = new Map<string, Timestamp>();

  constructor(table: SeriesTable) {
    this.#table = table;
    this.#firstId = table.firstId;
  }

  restore(keys: readonly string[], times: BigInt64Array): void {
    keys.forEach((key, i) => this.#older.set(key, times[i] as bigint));
  }

  note(selection: RowSelection, start: number, end: number): void {
    if (this.#table.firstId !== this.#firstId) this.#startEpoch();
    const { source } = selection;
    const { series, seriesOfRow, timeHalves } = source;
    let known = -1;
    let at = 0;
    let halves = this.#halves;
    for (let i = start; i < end; i++) {
      const row = rowNumber(selection, i);
      const index = seriesOfRow[row] as number;
      if (index !== known) {
        known = index;
        at = this.#place(series[index] as Series);
        halves = this.#halves;
      }
      if (at < 0) {
        this.#noteOlder(series[index] as Series, source.timeAt(row));
        continue;
      }
      const low = timeHalves[row * 2] as number;
      const high = timeHalves[row * 2 + 1] as number;
      const knownHigh = halves[at + 1] as number;
      if (high < knownHigh) continue;
      if (high === knownHigh && low >>> 0 <= (halves[at] as number) >>> 0) continue;
      halves[at] = low;
      halves[at + 1] = high;
    }
  }

  /** Series whose newest time is not before `floor`; older ones are dropped. */
  encode(floor: Timestamp): { readonly keys: string[]; readonly times: BigInt64Array } {
    this.#collect();
    const kept = new Map<string, Timestamp>();
    for (const [key, time] of this.#older) if (time >= floor) kept.set(key, time);
    this.#older = kept;
    return { keys: [...kept.keys()], times: BigInt64Array.from(kept.values()) };
  }

  /** Position of a series in `#halves`; -1 when it is of an earlier epoch. */
  #place(series: Series): number {
    const id = series.id - this.#firstId;
    if (id < 0) return -1;
    const found = this.#index.find(id);
    if (found >= 0) return this.#index.at(found) * 2;
    const at = this.#series.push(series) - 1;
    this.#index.add(id, at);
    if (this.#halves.length < (at + 1) * 2) this.#grow(at + 1);
    return at * 2;
  }

  #grow(count: number): void {
    const before = this.#halves;
    const capacity = Math.max(FIRST_CAPACITY, count, before.length);
    this.#halves = new Int32Array(capacity * 2);
    for (let i = 1; i < this.#halves.length; i += 2) this.#halves[i] = TIME_MIN_HIGH;
    this.#halves.set(before);
  }

  #noteOlder(series: Series, time: Timestamp): void {
    const key = seriesText(series.name, series.keys.names, series.values);
    const known = this.#older.get(key);
    if (known === undefined || known < time) this.#older.set(key, time);
  }

  #startEpoch(): void {
    this.#collect();
    this.#firstId = this.#table.firstId;
  }

  /** Moves all marks to the map by text. */
  #collect(): void {
    const times = new BigInt64Array(this.#halves.buffer);
    this.#series.forEach((series, i) => this.#noteOlder(series, times[i] as bigint));
    this.#series.length = 0;
    this.#index = new HashIndex();
    this.#halves = new Int32Array(0);
  }
}

export class PositionKeeper {
  readonly #table: SeriesTable;
  readonly #latenessNanos: bigint;
  readonly #marks = new Map<string, Map<string, Marks>>();
  readonly #queries = new Map<string, Timestamp>();
  #begun: Timestamp;
  #record = 0;

  /**
   * Points may arrive up to `latenessNanos` after their time. `begun` is when the task starts
   * without a state.
   */
  constructor(
    table: SeriesTable,
    { latenessNanos, begun }: { readonly latenessNanos: bigint; readonly begun: Timestamp },
  ) {
    this.#table = table;
    this.#latenessNanos = latenessNanos;
    this.#begun = begun;
  }

  /** Records rows that the task was given. */
  note(selection: RowSelection, start: number, end: number): void {
    const { source } = selection;
    const { database, retentionPolicy } = source.origin;
    if (start < end) this.#marksOf(database, retentionPolicy).note(selection, start, end);
    this.#record = source.batch.record ?? this.#record;
  }

  /** Records the end of a range that a query node was given. */
  noteQuery(nodeName: string, stop: Timestamp): void {
    this.#queries.set(nodeName, stop);
  }

  encode(now: Timestamp): TaskPosition {
    const floor = now - this.#latenessNanos;
    const marks: TaskPosition['marks'][number][] = [];
    for (const [database, policies] of this.#marks) {
      for (const [retentionPolicy, each] of policies) {
        marks.push({ database, retentionPolicy, ...each.encode(floor) });
      }
    }
    const queries = [...this.#queries];
    return { time: now, begun: this.#begun, marks, record: this.#record, queries };
  }

  /** Continues from a position; `undefined` when the state was taken without one. */
  restore(position: TaskPosition | undefined): void {
    if (position === undefined) return;
    this.#begun = position.begun;
    this.#record = position.record ?? 0;
    for (const { database, retentionPolicy, keys, times } of position.marks) {
      this.#marksOf(database, retentionPolicy).restore(keys, times);
    }
    for (const [nodeName, stop] of position.queries) this.#queries.set(nodeName, stop);
  }

  #marksOf(database: string, retentionPolicy: string): Marks {
    let policies = this.#marks.get(database);
    if (policies === undefined) this.#marks.set(database, (policies = new Map()));
    let marks = policies.get(retentionPolicy);
    if (marks === undefined) policies.set(retentionPolicy, (marks = new Marks(this.#table)));
    return marks;
  }
}
