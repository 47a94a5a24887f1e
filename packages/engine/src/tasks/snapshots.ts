// State of running tasks on disk, so that windows, counters and alert levels continue after a
// restart of the engine or of a task's thread. A task that is disabled and enabled again starts
// from scratch.
import { createHash } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import { LATE, Unavailable, untilAborted, within } from '@tidemark/core';
import type { Clock, Timestamp } from '@tidemark/core';
import { taskOfUnit } from '@tidemark/runtime';
import type { EncodedSnapshot, RunningTask, TaskState } from '@tidemark/runtime';
import type { Executor, SavedUnit } from './executor.ts';
import type { Beginning } from './task-source.ts';
import type { Unit } from './unit.ts';
import { SNAPSHOT_TIMEOUT_MS } from '../limits.ts';
import type { Logger } from '../observability/log-hub.ts';
import type { Metadata } from '../store/metadata.ts';
import type { StoreChange } from '../store/tables.ts';
import type { Entries } from '../store/table.ts';
import type { TaskRecord } from '../store/records.ts';

type Stored = {
  readonly definition: string;
  /**
   * The decoded form is from before tasks had threads of their own. Absent for a task that has
   * begun and has reported no state yet.
   */
  readonly snapshot?: TaskState | undefined;
  /** Number of the last record of the log of points that it contains; of a cluster only. */
  readonly sequence?: number | undefined;
  /** When a task that has reported no state yet began; absent in records of earlier versions. */
  readonly begun?: Timestamp | undefined;
};

/** States that are in memory together while they are saved. */
const UNITS_AT_ONCE = 64;

/** The state of a unit, as it is stored. */
type Taken = {
  /** States are numbered as they are asked for. */
  readonly number: number;
  readonly unit: string;
  readonly task: RunningTask;
  readonly run: AbortSignal | undefined;
  readonly sequence: number | undefined;
  readonly bytes: Buffer;
};

export type SnapshotsOptions = {
  readonly metadata: Metadata;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Resolves when the alerts raised, and the points looped back so far are stored; `undefined` when
   * they are.
   */
  readonly effectsStored: () => Promise<void> | undefined;
  /** Whether a task of this id is enabled. */
  readonly isEnabled: (task: string) => boolean;
};

export class Snapshots {
  readonly #table: Entries<string>;
  readonly #options: SnapshotsOptions;
  /** Positions of the states that were saved or read; see `sequenceOf`. */
  readonly #sequences = new Map<string, number | undefined>();
  #takenCount = 0;
  /** By task: the number of the newest state that was given to be written. */
  readonly #newest = new WeakMap<RunningTask, number>();
  /** Resolves when the last written states are on disk, or could not be written. */
  #written: Promise<void> = Promise.resolve();
  readonly #ending = new AbortController();
  /** Monotonic. */
  #endMs = Infinity;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
    this.#table = options.metadata.read('snapshots');
  }

  /**
   * The engine stops: states that are not returned within this time, also those that are awaited
   * now, are left out. A later call replaces the time.
   */
  endWithin(ms: number): void {
    this.#endMs = this.#options.clock.monotonicMs() + ms;
    this.#ending.abort();
  }

  /**
   * Saves the state of all running tasks. Resolves when it is on disk. A task that does not return
   * its state in time keeps the saved one, and so do all when nothing can be written; both are
   * logged. Returns whether all were saved.
   */
  async saveAll(executor: Executor): Promise<boolean> {
    const units = [...executor.units()];
    const running = new Set(units.map(({ unit }) => unit));
    // A task that has ended, with its host or by itself, continues from its state when it is
    // started again.
    const gone = [...this.#table.keys()].filter(
      (unit) => !running.has(unit) && !this.#options.isEnabled(taskOfUnit(unit)),
    );
    return (await this.#save(executor, units, gone)).length === units.length;
  }

  /** As `saveAll`, for some units. Returns whether the state of each is on disk. */
  async save(executor: Executor, units: readonly Unit[]): Promise<boolean> {
    return (await this.#save(executor, units, [])).length === units.length;
  }

  /**
   * Saves the first states of units. The log of points is kept from their beginning on even if
   * they cannot tell a state, because they lose their host.
   */
  async begin(executor: Executor, units: readonly Unit[]): Promise<void> {
    const marked = this.#mark(units);
    await this.save(executor, units);
    await marked;
  }

  /** Stores where units have begun, before any state of theirs. */
  async #mark(units: readonly Unit[]): Promise<void> {
    const { metadata, log } = this.#options;
    const changes = units.flatMap(({ unit, definition, source }): StoreChange[] => {
      const { begin: sequence, begun } = source ?? {};
      if (sequence === undefined) return [];
      const value = serialize({ definition, sequence, begun } satisfies Stored);
      return [{ table: this.#table.name, key: unit, value }];
    });
    try {
      if (changes.length > 0) await metadata.commit(changes);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      log('error', 'failed to save the start positions of tasks', { err: error.message });
    }
  }

  /** The states that units have now, by their names; nothing is stored. */
  async take(units: readonly Unit[]): Promise<ReadonlyMap<string, TaskState>> {
    const taken = await Promise.all(
      units.map(async ({ unit, task }) => [unit, await this.#take(unit, task)] as const),
    );
    return new Map(taken.flatMap(([unit, state]) => (state === undefined ? [] : [[unit, state]])));
  }

  /** Takes some states at a time and stores them together. Returns the units that have one. */
  async #save(
    executor: Executor,
    units: readonly Unit[],
    gone: readonly string[],
  ): Promise<readonly string[]> {
    const waiting = [...units];
    const saved: string[] = [];
    let taken: Taken[] = [];
    // One that does not answer delays those behind it only where there are very many of them.
    const lane = async (): Promise<void> => {
      for (let unit = waiting.shift(); unit !== undefined; unit = waiting.shift()) {
        const one = await this.#takeFrom(unit);
        if (one !== undefined) taken.push(one);
        if (taken.length < UNITS_AT_ONCE) continue;
        const some = taken;
        taken = [];
        saved.push(...(await this.#store(executor, some, [])));
      }
    };
    await Promise.all(Array.from({ length: UNITS_AT_ONCE }, lane));
    saved.push(...(await this.#store(executor, taken, gone)));
    return saved;
  }

  async #takeFrom({ unit, task, definition, source }: Unit): Promise<Taken | undefined> {
    // It gets no points yet, because other parts of its task are still starting. Its state has no
    // position in the log, and must not replace that from which it will continue.
    if (source === undefined) return undefined;
    // The state contains exactly the points that the unit got before the state is requested.
    const { run, sequence } = source;
    if (run?.aborted === true) return undefined;
    const number = ++this.#takenCount;
    const snapshot = await this.#take(unit, task);
    if (snapshot === undefined) return undefined;
    const stored: Stored = {
      definition,
      snapshot,
      ...(sequence === undefined ? {} : { sequence }),
    };
    return { number, unit, task, run, sequence, bytes: serialize(stored) };
  }

  async #store(
    executor: Executor,
    taken: readonly Taken[],
    gone: readonly string[],
  ): Promise<readonly string[]> {
    const kept: Taken[] = [];
    try {
      // A state that includes an alert, or points that were looped back, must not outlive them:
      // they would never be raised or written then.
      await this.#options.effectsStored();
      const changes: StoreChange[] = [];
      for (const each of taken) {
        // If it was stopped or restarted meanwhile, the state does not belong to it.
        const isOver = each.run?.aborted === true;
        if (isOver || executor.unit(each.unit)?.task !== each.task) continue;
        // Another save was faster, and the log may be without the points in its newer state.
        if (each.number < (this.#newest.get(each.task) ?? 0)) continue;
        this.#newest.set(each.task, each.number);
        changes.push({ table: this.#table.name, key: each.unit, value: each.bytes });
        kept.push(each);
      }
      const written = this.#options.metadata.commit([...changes, ...this.#removals(gone)]);
      this.#written = written.catch(() => undefined);
      await written;
      for (const unit of gone) this.#sequences.delete(unit);
      // If it is restarted meanwhile, from the earlier state, it is given the log from there.
      for (const { unit, run, sequence } of kept)
        if (run?.aborted !== true) this.#sequences.set(unit, sequence);
      return kept.map(({ unit }) => unit);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      // The disk is full or broken. Tasks continue, and the next attempt may work.
      this.#options.log('error', 'failed to save the state of tasks', { err: error.message });
      return [];
    }
  }

  /**
   * Drops the saved states of a task and its parts, before it restarts. Resolves when that is on
   * disk.
   */
  async forget(id: string): Promise<void> {
    // The keys include only what is on disk.
    await this.#written;
    const units = [...this.#table.keys({ start: id, end: endOfUnits(id) })];
    for (const unit of units) this.#sequences.delete(unit);
    await this.#options.metadata.commit(this.#removals(units));
  }

  #removals(units: readonly string[]): readonly StoreChange[] {
    return units.map((key) => ({ table: this.#table.name, key, value: undefined }));
  }

  /** The saved state of a unit; `undefined` when none fits its definition. */
  saved(unit: SavedUnit): EncodedSnapshot | undefined {
    const snapshot = this.#stored(unit)?.snapshot;
    return snapshot === undefined ? undefined : encoded(snapshot);
  }

  /**
   * Where a unit of a cluster that has no saved state began; `undefined` when it has one, or has
   * not begun.
   */
  beginning(unit: SavedUnit): Beginning | undefined {
    const { snapshot, sequence, begun } = this.#stored(unit) ?? {};
    if (snapshot !== undefined || sequence === undefined || begun === undefined) return undefined;
    return { sequence, begun };
  }

  #stored({ unit, definition }: SavedUnit): Stored | undefined {
    const bytes = this.#table.get(unit);
    if (bytes === undefined) return undefined;
    try {
      const stored = deserialize(bytes) as Stored;
      if (stored.definition !== definition) return undefined;
      this.#sequences.set(unit, stored.sequence);
      return stored;
    } catch (error) {
      // Written by another version; the task starts without it.
      this.#options.log('warn', 'failed to read the state of a task', {
        task: unit,
        err: String(error),
      });
      return undefined;
    }
  }

  /**
   * Number of the last record of the log of points that the saved state of a unit contains, or
   * behind which it began; `undefined` when nothing fits its definition.
   */
  sequenceOf({ unit, definition }: SavedUnit): number | undefined {
    if (!this.#sequences.has(unit)) this.saved({ unit, definition });
    return this.#sequences.get(unit);
  }

  async #take(unit: string, task: RunningTask): Promise<TaskState | undefined> {
    try {
      const taking = task.takeState();
      const { clock } = this.#options;
      // `undefined` when the engine stops meanwhile.
      const sooner = untilAborted(taking, this.#ending.signal);
      let state = await within(clock, SNAPSHOT_TIMEOUT_MS, sooner);
      if (state === LATE) throw new Error(`no answer within ${SNAPSHOT_TIMEOUT_MS} ms`);
      const leftMs = this.#endMs - clock.monotonicMs();
      state ??= leftMs > 0 ? await within(clock, leftMs, taking) : LATE;
      return state === LATE ? undefined : encoded(state);
    } catch (error) {
      // A task that fails or is stopped meanwhile has no state to save.
      if (task.error === undefined) {
        this.#options.log('warn', 'failed to save the state of a task', {
          task: unit,
          err: String(error),
        });
      }
      return undefined;
    }
  }
}

/**
 * A saved state with the position of a record of the log of points; bytes that cannot be read stay
 * as they are.
 */
export function containing(bytes: Buffer, sequence: number): Buffer {
  try {
    return serialize({ ...(deserialize(bytes) as Stored), sequence } satisfies Stored);
  } catch {
    // Written by another version: the start of the task reports it.
    return bytes;
  }
}

function encoded(state: TaskState): EncodedSnapshot {
  return state instanceof Uint8Array ? state : serialize(state);
}

/** After the names of all units of a task, and before those of any other: `$` follows `#`. */
function endOfUnits(id: string): string {
  return `${id}$`;
}

/**
 * Identifies what a record starts: state belongs to the nodes of one script with one set of vars,
 * from one enabling to the next disabling.
 */
export function definitionOf(record: TaskRecord): string {
  return createHash('sha256')
    .update(record.script)
    .update('\u0000')
    .update(record.varsJson)
    .update('\u0000')
    .update(record.lastEnabled)
    .digest('hex');
}
