// Starting tasks as their records say, and keeping in the records what became of them: why one
// could not start, or ended.
import { Internal, InvalidRequest, messageOf, Unavailable } from '@tidemark/core';
import type { Diagnostic } from '@tidemark/core';
import { StartError } from '@tidemark/runtime';
import type { TaskState } from '@tidemark/runtime';
import type { Redactor } from '../observability/redactor.ts';
import type { Table } from '../store/metadata.ts';
import type { TaskRecord } from '../store/records.ts';
import { varsOf } from './definition.ts';
import type { Executor, SavedUnit } from './executor.ts';
import { secretsOf } from './secret-vars.ts';
import { definitionOf } from './snapshots.ts';
import { partsOf } from './split.ts';
import type { Snapshots } from './snapshots.ts';
import type { TaskChecks } from './task-checks.ts';

export type TaskStartsOptions = {
  readonly records: Table<TaskRecord>;
  readonly checks: TaskChecks;
  readonly executor: Executor;
  readonly snapshots: Snapshots;
  /** Told of the secrets among the vars of every task. */
  readonly redactor: Redactor;
  /** Tasks that are started at the same time when the engine starts. */
  readonly startsAtOnce: number;
  /** Called after a task was started. */
  readonly onStarted: () => void;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
};

/** Finds the states that a task starts with. */
type Saved = () => Promise<undefined> | ((unit: SavedUnit) => TaskState | undefined);

type Refusal = { readonly reason: string; readonly diagnostics: readonly Diagnostic[] };

export class TaskStarts {
  readonly #options: TaskStartsOptions;
  /** Of the tasks that could not be started: what their scripts have to do with it. */
  readonly #refusals = new Map<string, Refusal>();

  constructor(options: TaskStartsOptions) {
    this.#options = options;
    for (const record of options.records.values()) this.hideSecretsOf(record);
  }

  /**
   * Starts what was enabled when the engine was stopped, with the state that was saved. A task that
   * can not start shows why; the others run.
   */
  async resumeEnabled(): Promise<void> {
    const { records, startsAtOnce } = this.#options;
    const enabled = [...records.values()].filter(({ status }) => status === 'enabled').values();
    const next = async (): Promise<void> => {
      for (const record of enabled) await this.#resume(record);
    };
    await Promise.all(Array.from({ length: startsAtOnce }, next));
  }

  async #resume(record: TaskRecord): Promise<void> {
    const { snapshots, log } = this.#options;
    try {
      await this.#start(record, () => (unit) => snapshots.saved(unit));
    } catch (error) {
      // The task's own record shows the reason.
      log('failed to start task', { task: record.id, err: messageOf(error) });
    }
  }

  /** Starts what ran before a change that could not be made after all. */
  async startAgain(records: readonly TaskRecord[]): Promise<void> {
    for (const record of records) {
      try {
        await this.start(record);
      } catch (error) {
        // It ran before; the record shows why it does not now.
        this.#options.log('failed to restart task', { task: record.id, err: messageOf(error) });
      }
    }
  }

  /**
   * Starts a task without a state of earlier. When that fails, its record says why and the reason
   * is thrown.
   */
  start(record: TaskRecord): Promise<void> {
    return this.#start(record, () => this.#forgotten(record));
  }

  /** As `start`, with nothing noted in the record. */
  run(record: TaskRecord): Promise<void> {
    return this.#run(record, () => this.#forgotten(record));
  }

  /** What keeps a task from starting: found without starting it, or when that was tried last. */
  diagnostics(record: TaskRecord): readonly Diagnostic[] {
    const { executor, checks } = this.#options;
    if (executor.running(record.id) !== undefined) return [];
    const refusal = this.#refusals.get(record.id);
    if (refusal !== undefined && refusal.reason === record.error) return refusal.diagnostics;
    return checks.diagnostics(record);
  }

  /** Nobody wants the task to run any more: why it could not is forgotten. */
  forget(id: string): void {
    this.#refusals.delete(id);
  }

  /** A task that runs goes on with the secrets of its last start, until the next one. */
  hideSecretsOf(record: TaskRecord): void {
    this.#options.redactor.addOwned(record.id, secretsOf(varsOf(record)));
  }

  /** Nothing runs any more with other secrets than the record's. */
  forgetSecretsOf(id: string, record: TaskRecord): void {
    const { redactor } = this.#options;
    redactor.setOwned(id, []);
    redactor.setOwned(record.id, secretsOf(varsOf(record)));
  }

  async #start(record: TaskRecord, saved: Saved): Promise<void> {
    const { checks, redactor } = this.#options;
    this.#refusals.delete(record.id);
    try {
      await this.#run(record, saved);
      if (record.error !== '') await this.#setError(record.id, '');
    } catch (error) {
      const reason = redactor.redact(messageOf(error));
      const diagnostics = checks.diagnosticsOf(error, record);
      this.#refusals.set(record.id, { reason, diagnostics });
      await this.#setError(record.id, reason);
      const Kind = kindOf(error);
      throw new Kind(reason, { cause: error, diagnostics });
    }
  }

  /** Runs a task as the record says, in place of what ran under its id. */
  async #run(record: TaskRecord, saved: Saved): Promise<void> {
    const { executor, snapshots, checks } = this.#options;
    const { id, dbrps } = record;
    await executor.stop(id);
    this.forgetSecretsOf(id, record);
    const { pipeline } = checks.startableOf(record);
    const began = await executor.start(
      {
        id,
        pipeline,
        dbrps,
        definition: definitionOf(record),
        split: partsOf(record, pipeline),
        saved: await saved(),
      },
      {
        died: (error) => this.#storeError('task died', id, error),
        restarted: (reason) => this.#storeError('task was started again', id, reason),
        gaveUp: (reason) => this.#storeError('task gave up catching up', id, reason),
      },
    );
    this.#options.onStarted();
    // What it misses from now on counts, also when the engine is killed before states are saved the
    // next time.
    if (began.length > 0 && executor.hasPosition(id)) await snapshots.save(executor, began);
  }

  /** A task that starts anew must not get its earlier state later. */
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
    const { records, redactor } = this.#options;
    const record = records.get(id);
    if (record === undefined) return;
    // The secret that it may quote can be another one when it is shown.
    await records.put(id, { ...record, error: redactor.redact(error) });
  }
}

/**
 * The class under which clients are told why a task does not start. What a script has wrong stays
 * so when the request is repeated. Starting forgets an earlier state, which a full disk refuses:
 * that can be tried again.
 */
export function kindOf(
  error: unknown,
): typeof InvalidRequest | typeof Unavailable | typeof Internal {
  if (error instanceof InvalidRequest || error instanceof StartError) return InvalidRequest;
  return error instanceof Unavailable ? Unavailable : Internal;
}
