// Tasks: defines, changes, lists and deletes them, and keeps running tasks consistent with stored
// ones.
import { isDeepStrictEqual } from 'node:util';
import {
  AppError,
  Conflict,
  formatRfc3339,
  InvalidRequest,
  messageOf,
  NotFound,
} from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { AlertService } from '@tidemark/alerting';
import { idOrRandom } from '../ids.ts';
import type { Redactor } from '../observability/redactor.ts';
import type { Metadata } from '../store/metadata.ts';
import type { TaskRecord, TemplateRecord } from '../store/records.ts';
import type { Table } from '../store/table.ts';
import type { ChangeLock } from './change-lock.ts';
import type { BuildEnvironment } from './definition.ts';
import type { Executor, Startable } from './executor.ts';
import { changedTask, followingTask, newTask } from './task-change.ts';
import type { ChangeContext, TaskInput } from './task-change.ts';
import { kindOf } from './task-starts.ts';
import { definitionOf } from './snapshots.ts';
import { partsOf } from './split.ts';
import type { SplitSetting } from './split.ts';
import type { TaskVersion, TaskVersions } from './task-versions.ts';
import type { TaskStarts } from './task-starts.ts';

export type TaskServiceOptions = {
  readonly metadata: Metadata;
  readonly tasks: Table<TaskRecord>;
  readonly templates: Table<TemplateRecord>;
  readonly versions: TaskVersions;
  readonly executor: Executor;
  readonly starts: TaskStarts;
  /** Shared with the templates: no task changes while one of them does. */
  readonly lock: ChangeLock;
  readonly alerts: AlertService;
  readonly environment: () => BuildEnvironment;
  readonly split: SplitSetting;
  /** Drops the secrets of deleted tasks. */
  readonly redactor: Redactor;
  readonly clock: Clock;
};

/** The error that clients know, with the requested id. */
export const noTask = (id: string): string => `no task exists with the id ${JSON.stringify(id)}`;

export class TaskService {
  readonly #options: TaskServiceOptions;
  /** Whether a record is what was started: clients ask again and again about the same two. */
  readonly #compared = new WeakMap<
    TaskRecord,
    { readonly started: Startable; readonly isSame: boolean }
  >();

  constructor(options: TaskServiceOptions) {
    this.#options = options;
  }

  get(id: string): TaskRecord | undefined {
    return this.#options.tasks.get(id);
  }

  /** The task, or `NotFound` with the error that clients know. */
  require(id: string): TaskRecord {
    const record = this.get(id);
    if (record === undefined) throw new NotFound(noTask(id));
    return record;
  }

  /** Definitions that a task has had, the present one first. */
  versions(id: string): readonly TaskVersion[] {
    return this.#options.versions.list(this.require(id).id);
  }

  all(): Iterable<TaskRecord> {
    return this.#options.tasks.values();
  }

  count(): number {
    return this.#options.tasks.count();
  }

  /**
   * What `define` would store, without storing it; a task with this id may exist. Throws as
   * `define` does.
   */
  draft(input: TaskInput): TaskRecord {
    return newTask(idOrRandom(input.id ?? '', 'task'), input, this.#context());
  }

  /** Defines a new task, and starts it when it is enabled. One that cannot start is not stored. */
  async define(input: TaskInput, user = ''): Promise<TaskRecord> {
    const id = idOrRandom(input.id ?? '', 'task');
    const { lock, metadata, tasks, starts, versions, redactor } = this.#options;
    return lock.one(id, async () => {
      if (tasks.has(id)) throw new InvalidRequest(`task ${JSON.stringify(id)} already exists`);
      const record = newTask(id, input, this.#context());
      starts.hideSecretsOf(record);
      const store = (): Promise<void> =>
        metadata.commit([
          ...tasks.changes({ id, value: record }),
          ...versions.changes(undefined, record, user),
        ]);
      try {
        if (record.status === 'enabled') await this.#start(record, id, store);
        else await store();
      } catch (error) {
        redactor.setOwned(id, []);
        throw error;
      }
      return this.require(id);
    });
  }

  /**
   * Changes a task. Script, vars and database pairs of a running task take effect with its next
   * start, which the input can request. If it cannot start, nothing changes.
   */
  async patch(id: string, input: TaskInput, user = ''): Promise<TaskRecord> {
    const { lock, metadata, tasks, starts, versions, executor } = this.#options;
    return lock.one(id, async () => {
      const before = tasks.get(id);
      if (before === undefined)
        throw new NotFound(`task does not exist, cannot update: ${JSON.stringify(id)}`);
      const newId = input.id === undefined || input.id === '' ? id : idOrRandom(input.id, 'task');
      const isRenamed = newId !== id;
      if (isRenamed && tasks.has(newId)) {
        throw new Conflict('failed to create new task during ID change: object already exists');
      }
      const changed = { ...changedTask(before, input, this.#context()), id: newId };
      const isEnabled = changed.status === 'enabled';
      const isAskedFor =
        before.status === 'disabled' ||
        input.restart === true ||
        (input.status === 'enabled' && executor.running(id) === undefined);
      const isStarted = isEnabled && (isRenamed || isAskedFor);
      const after = isStarted ? { ...changed, error: '' } : changed;
      starts.hideSecretsOf(after);
      const store = (): Promise<void> =>
        metadata.commit([
          ...tasks.changes(
            { id, value: isRenamed ? undefined : after },
            { id: newId, value: after },
          ),
          ...versions.changes(before, after, user),
        ]);
      if (isStarted) await this.#start(after, id, store);
      else await store();
      if (!isEnabled) await this.#end(id, after);
      return this.require(newId);
    });
  }

  /** Whether a task runs with another definition than the stored one. */
  needsRestart(record: TaskRecord): boolean {
    const started = this.#options.executor.started(record.id);
    if (started === undefined) return false;
    const last = this.#compared.get(record);
    if (last?.started === started) return !last.isSame;
    const { definition, pipeline, dbrps, split } = started;
    const isSame =
      definition === definitionOf(record) &&
      isDeepStrictEqual(dbrps, record.dbrps) &&
      isDeepStrictEqual(split, partsOf(record, pipeline));
    this.#compared.set(record, { started, isSame });
    return !isSame;
  }

  #start(record: TaskRecord, instead: string, store: () => Promise<void>): Promise<void> {
    const { starts } = this.#options;
    const refusal = (error: unknown): AppError => starts.refusalOf(record, error);
    return starts.startAndStore([{ record, instead, refusal }], store);
  }

  async #end(id: string, after: TaskRecord): Promise<void> {
    const { executor, starts } = this.#options;
    starts.forget(id);
    await executor.stop(id);
    starts.forgetSecretsOf(id, after);
  }

  /** Stops and deletes a task with its anonymous topics; a missing one is no error. */
  async delete(id: string): Promise<void> {
    const { lock, executor, starts, metadata, tasks, versions, alerts, redactor } = this.#options;
    await lock.one(id, async () => {
      // Stored first: if that fails, the task keeps running.
      await metadata.commit([...tasks.changes({ id, value: undefined }), ...versions.removals(id)]);
      await executor.stop(id);
      starts.forget(id);
      redactor.setOwned(id, []);
      await alerts.deleteTopicsOf('main', id);
    });
  }

  /**
   * Replaces a template and gives its tasks the new script. All follow or none: when one cannot run
   * or nothing can be stored, all continue as before and the reason is thrown. Only while the lock
   * is held as a whole.
   */
  async followTemplate(before: TemplateRecord, after: TemplateRecord, user: string): Promise<void> {
    const { metadata, tasks, templates, starts, versions } = this.#options;
    const users = [...this.all()].filter(({ templateId }) => templateId === before.id);
    const context = this.#context();
    const changed = users.map((task) => {
      try {
        return followingTask(task, after, context);
      } catch (error) {
        throw reloadError(task, error);
      }
    });
    const enabled = changed.filter(({ status }) => status === 'enabled');
    await starts.startAndStore(
      enabled.map((record) => ({
        record,
        instead: record.id,
        refusal: (error) => reloadError(record, error),
      })),
      () =>
        metadata.commit([
          ...tasks.changes(...changed.map((task) => ({ id: task.id, value: task }))),
          ...changed.flatMap((task, i) => versions.changes(users[i], task, user)),
          ...templates.changes({ id: before.id, value: undefined }, { id: after.id, value: after }),
        ]),
    );
  }

  #context(): ChangeContext {
    const { templates, environment, split, clock } = this.#options;
    return { templates, environment, split, now: formatRfc3339(clock.now()) };
  }
}

function reloadError(task: TaskRecord, error: unknown): AppError {
  const Kind = kindOf(error);
  const reason = `error reloading associated task ${task.id}: ${plainReason(error)}`;
  return new Kind(reason, { cause: error });
}

// Reloading reports only the reason, without the prefix that defining a task adds.
function plainReason(error: unknown): string {
  const message = messageOf(error);
  return error instanceof AppError ? message.replace(/^invalid TICKscript: /, '') : message;
}
