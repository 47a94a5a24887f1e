// Starts tasks from their records, and records the outcome: why a task could not start, or ended.
import { Internal, InvalidRequest, messageOf, Unavailable } from '@tidemark/core';
import type { AppError, Diagnostic } from '@tidemark/core';
import type { Pipeline } from '@tidemark/pipeline';
import { StartError } from '@tidemark/runtime';
import type { TaskState } from '@tidemark/runtime';
import type { Redactor } from '../observability/redactor.ts';
import type { Table } from '../store/table.ts';
import type { TaskRecord } from '../store/records.ts';
import { varsOf } from './definition.ts';
import type { ChangeLock } from './change-lock.ts';
import type { Executor, SavedUnit, Startable, TaskEvents } from './executor.ts';
import { secretsOf } from './secret-vars.ts';
import { definitionOf } from './snapshots.ts';
import { partsOf } from './split.ts';
import type { Snapshots } from './snapshots.ts';
import type { TaskChecks } from './task-checks.ts';

export type TaskStartsOptions = {
  readonly lock: ChangeLock;
  readonly records: Table<TaskRecord>;
  readonly checks: TaskChecks;
  readonly executor: Executor;
  readonly snapshots: Snapshots;
  /** Gets the secrets among the vars of every task. */
  readonly redactor: Redactor;
  /** Called after a task was started. */
  readonly onStarted: () => void;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
};

/**
 * Number of tasks that are started at the same time when the engine starts. A host answers a moment
 * after it was asked to start one; meanwhile the next ones are made.
 */
const STARTS_AT_ONCE = 16;

/** A task to run according to its record. */
export type Start = {
  readonly record: TaskRecord;
  /** Id of the task that it replaces. */
  readonly instead: string;
  /** The error to throw when it cannot start. */
  readonly refusal: (error: unknown) => AppError;
};

/** A task that has ended: how it was started, and its last states. */
type Ended = {
  readonly startable: Startable | undefined;
  readonly states: ReadonlyMap<string, TaskState>;
};

/** Finds the states that a task starts with. */
type Saved = () => Promise<undefined> | ((unit: SavedUnit) => TaskState | undefined);

type Refusal = { readonly reason: string; readonly diagnostics: readonly Diagnostic[] };

export class TaskStarts {
  readonly #options: TaskStartsOptions;
  /** For tasks that could not be started: the part of their scripts in it. */
  readonly #refusals = new Map<string, Refusal>();

  constructor(options: TaskStartsOptions) {
    this.#options = options;
    for (const record of options.records.values()) this.hideSecretsOf(record);
  }

  /**
   * Starts the tasks that were enabled when the engine was stopped, with their saved states. A task
   * that cannot start shows why; the others run.
   */
  async resumeEnabled(): Promise<void> {
    const { records } = this.#options;
    const enabled = [...records.values()].filter(({ status }) => status === 'enabled').values();
    const next = async (): Promise<void> => {
      for (const record of enabled) await this.#resume(record);
    };
    const lanes = await Promise.allSettled(Array.from({ length: STARTS_AT_ONCE }, next));
    // Thrown when no other start is under way: hosts and store are closed then.
    for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
  }

  async #resume(record: TaskRecord): Promise<void> {
    const { snapshots, log } = this.#options;
    try {
      const { pipeline } = this.#options.checks.startableOf(record);
      this.forgetSecretsOf(record.id, record);
      await this.#run(record, pipeline, () => (unit) => snapshots.saved(unit));
      if (record.error !== '') await this.#setError(record.id, '');
    } catch (error) {
      // The task's own record has the reason.
      const { message, diagnostics } = this.refusalOf(record, error);
      this.#refusals.set(record.id, { reason: message, diagnostics });
      log('failed to start task', { task: record.id, err: message });
      await this.#setError(record.id, message);
    }
  }

  /**
   * Starts tasks, in place of those that run under their ids, and then stores the changes: all of
   * it or nothing. When a task cannot start or nothing can be stored, the earlier tasks continue
   * from their states, and the reason is thrown. Everything that can be checked is checked before
   * anything is stopped.
   */
  async startAndStore(starts: readonly Start[], store: () => Promise<void>): Promise<void> {
    const checked = starts.map((start) => {
      try {
        return { ...start, pipeline: this.#options.checks.startableOf(start.record).pipeline };
      } catch (error) {
        throw start.refusal(error);
      }
    });
    const ended: Ended[] = [];
    const started: TaskRecord[] = [];
    try {
      for (const start of checked) {
        ended.push(await this.#end(start.instead));
        started.push(start.record);
        try {
          await this.#run(start.record, start.pipeline, () => this.#forgotten(start.record));
        } catch (error) {
          throw start.refusal(error);
        }
      }
      await store();
    } catch (error) {
      for (const { id } of started) await this.#options.executor.stop(id);
      for (const each of ended) await this.#goOn(each);
      throw error;
    }
    for (const { instead, record } of starts) {
      this.forget(instead);
      this.forgetSecretsOf(instead, record);
    }
  }

  /** Why a client's record cannot be run. */
  refusalOf(record: TaskRecord, error: unknown): AppError {
    const { checks, redactor } = this.#options;
    const Kind = kindOf(error);
    const diagnostics = checks.diagnosticsOf(error, record);
    return new Kind(redactor.redact(messageOf(error)), { cause: error, diagnostics });
  }

  /** Ends the task of an id; returns all that it needs to continue. */
  async #end(id: string): Promise<Ended> {
    const { executor, snapshots } = this.#options;
    const startable = executor.started(id);
    const states = await snapshots.take(executor.unitsOf(id));
    await executor.stop(id);
    return { startable, states };
  }

  async #goOn({ startable, states }: Ended): Promise<void> {
    if (startable === undefined) return;
    const { id } = startable;
    try {
      const saved = ({ unit }: SavedUnit): TaskState | undefined => states.get(unit);
      await this.#options.executor.start({ ...startable, saved }, this.#eventsOf(id));
    } catch (error) {
      // It ran before; the record shows why it no longer does.
      this.#storeError('failed to restart task', id, messageOf(error));
    }
  }

  /** Problems that keep a task from starting: found without starting it, or in the last attempt. */
  diagnostics(record: TaskRecord): readonly Diagnostic[] {
    const { executor, checks } = this.#options;
    if (executor.running(record.id) !== undefined) return [];
    const refusal = this.#refusals.get(record.id);
    if (refusal !== undefined && refusal.reason === record.error) return refusal.diagnostics;
    return checks.diagnostics(record);
  }

  /** The task need not run any more: the reason of its failure is dropped. */
  forget(id: string): void {
    this.#refusals.delete(id);
  }

  /** A running task keeps the secrets of its last start until the next one. */
  hideSecretsOf(record: TaskRecord): void {
    this.#options.redactor.addOwned(record.id, secretsOf(varsOf(record)));
  }

  /** No task runs any more with other secrets than the record's. */
  forgetSecretsOf(id: string, record: TaskRecord): void {
    const { redactor } = this.#options;
    redactor.setOwned(id, []);
    redactor.setOwned(record.id, secretsOf(varsOf(record)));
  }

  /** Runs a task according to the record. Nothing runs under its id. */
  async #run(record: TaskRecord, pipeline: Pipeline, saved: Saved): Promise<void> {
    const { executor, snapshots } = this.#options;
    const { id, dbrps } = record;
    const began = await executor.start(
      {
        id,
        pipeline,
        dbrps,
        definition: definitionOf(record),
        split: partsOf(record, pipeline),
        saved: await saved(),
      },
      this.#eventsOf(id),
    );
    this.#options.onStarted();
    // Saved at once, so that points are not lost if the engine is killed before the next regular
    // save.
    if (began.length > 0 && executor.hasPosition(id)) await snapshots.begin(executor, began);
  }

  #eventsOf(id: string): TaskEvents {
    return {
      died: (error) => this.#storeError('task died', id, error),
      restarted: (reason) => this.#storeError('task was started again', id, reason),
      gaveUp: (reason) => this.#storeError('task gave up catching up', id, reason),
    };
  }

  /** A task that restarts must not get its earlier state later. */
  async #forgotten({ id }: TaskRecord): Promise<undefined> {
    await this.#options.snapshots.forget(id);
  }

  #storeError(event: string, id: string, error: string): void {
    const { log } = this.#options;
    log(event, { task: id, err: error });
    this.#setError(id, error).catch((cause: unknown) => {
      log('failed to store the error of a task', { task: id, err: messageOf(cause) });
    });
  }

  async #setError(id: string, error: string): Promise<void> {
    const { lock, records, redactor } = this.#options;
    // A change in progress stores another record than the present one.
    await lock.one(id, async () => {
      const record = records.get(id);
      if (record === undefined) return;
      // The secret in the error may have been replaced by another one when it is shown.
      await records.put(id, { ...record, error: redactor.redact(error) });
    });
  }
}

/**
 * The class of the error that clients get when a task does not start. A mistake in a script stays
 * when the request is repeated. Starting drops an earlier state, which a full disk refuses: that
 * can be retried.
 */
export function kindOf(
  error: unknown,
): typeof InvalidRequest | typeof Unavailable | typeof Internal {
  if (error instanceof InvalidRequest || error instanceof StartError) return InvalidRequest;
  return error instanceof Unavailable ? Unavailable : Internal;
}
