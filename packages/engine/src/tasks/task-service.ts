// Tasks: defining, changing, listing and deleting them, and keeping what runs in step with what is
// stored.
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
import type { Metadata, Table } from '../store/metadata.ts';
import type { TaskRecord, TemplateRecord } from '../store/records.ts';
import type { ChangeLock } from './change-lock.ts';
import type { BuildEnvironment } from './definition.ts';
import type { Executor } from './executor.ts';
import { changedTask, followingTask, newTask } from './task-change.ts';
import type { ChangeContext, TaskInput } from './task-change.ts';
import { kindOf } from './task-starts.ts';
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
  /** Forgets the secrets of tasks that are deleted. */
  readonly redactor: Redactor;
  readonly clock: Clock;
};

/** In the words that clients know, with what they asked for. */
export const noTask = (id: string): string => `no task exists with the id ${JSON.stringify(id)}`;

export class TaskService {
  readonly #options: TaskServiceOptions;

  constructor(options: TaskServiceOptions) {
    this.#options = options;
  }

  get(id: string): TaskRecord | undefined {
    return this.#options.tasks.get(id);
  }

  /** The task, or `NotFound` in the words that clients know. */
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
   * What `define` would store, which is not stored: no such task need be absent. Throws as `define`
   * does.
   */
  draft(input: TaskInput): TaskRecord {
    return newTask(idOrRandom(input.id ?? '', 'task'), input, this.#context());
  }

  /**
   * Defines a new task. When it is enabled but can not start, it stays stored and the error is
   * thrown.
   */
  async define(input: TaskInput, user = ''): Promise<TaskRecord> {
    const id = idOrRandom(input.id ?? '', 'task');
    const { lock, metadata, tasks, starts, versions } = this.#options;
    return lock.one(id, async () => {
      if (tasks.has(id)) throw new InvalidRequest(`task ${id} already exists`);
      const record = newTask(id, input, this.#context());
      starts.hideSecretsOf(record);
      await metadata.changeAll(
        tasks.staged([{ id, value: record }]),
        versions.staged(undefined, record, user),
      );
      if (record.status === 'enabled') await starts.start(record);
      return this.require(id);
    });
  }

  /**
   * Changes a task. Script, vars and database pairs of a running task take effect with its next
   * start.
   */
  async patch(id: string, input: TaskInput, user = ''): Promise<TaskRecord> {
    const { lock, metadata, tasks, starts, versions } = this.#options;
    return lock.one(id, async () => {
      const before = tasks.get(id);
      if (before === undefined)
        throw new NotFound(`task does not exist, cannot update: ${JSON.stringify(id)}`);
      const newId = input.id === undefined || input.id === '' ? id : idOrRandom(input.id, 'task');
      if (newId !== id && tasks.has(newId)) {
        throw new Conflict('failed to create new task during ID change: object already exists');
      }
      const after = { ...changedTask(before, input, this.#context()), id: newId };
      const isRenamed = newId !== id;
      starts.hideSecretsOf(after);
      await metadata.changeAll(
        tasks.staged([
          { id, value: isRenamed ? undefined : after },
          { id: newId, value: after },
        ]),
        versions.staged(before, after, user),
      );
      await this.#followStatus(before, after);
      return this.require(newId);
    });
  }

  // Starts, stops or restarts what runs so that it is what the record says.
  async #followStatus(before: TaskRecord, after: TaskRecord): Promise<void> {
    const { executor, starts } = this.#options;
    const isRenamed = before.id !== after.id;
    const wasRunning = executor.entry(before.id) !== undefined;
    if (after.status === 'disabled') {
      starts.forget(before.id);
      if (wasRunning) await executor.stop(before.id);
      starts.forgetSecretsOf(before.id, after);
      return;
    }
    if (isRenamed) starts.forget(before.id);
    if (isRenamed && wasRunning) await executor.stop(before.id);
    if (isRenamed) starts.forgetSecretsOf(before.id, after);
    if (isRenamed || before.status === 'disabled') await starts.start(after);
  }

  /** Stops and deletes a task with its anonymous topics; one that does not exist is fine. */
  async delete(id: string): Promise<void> {
    const { lock, executor, starts, metadata, tasks, versions, alerts, redactor } = this.#options;
    await lock.one(id, async () => {
      await executor.stop(id);
      starts.forget(id);
      await metadata.changeAll(tasks.staged([{ id, value: undefined }]), versions.stagedEnd(id));
      redactor.setOwned(id, []);
      await alerts.deleteTopicsOf('main', id);
    });
  }

  /**
   * Replaces a template and gives its tasks the new script. All follow or none: when one can not
   * run or nothing can be stored, all run again as before and the reason is thrown. Only while the
   * lock is held as a whole.
   */
  async followTemplate(before: TemplateRecord, after: TemplateRecord, user: string): Promise<void> {
    const { metadata, tasks, templates, starts, versions } = this.#options;
    const users = [...this.all()].filter(({ templateId }) => templateId === before.id);
    const restarted: TaskRecord[] = [];
    try {
      const changed: TaskRecord[] = [];
      for (const task of users) changed.push(await this.#follow(task, after, restarted));
      await metadata.changeAll(
        tasks.staged(changed.map((task) => ({ id: task.id, value: task }))),
        ...changed.map((task, i) => versions.staged(users[i], task, user)),
        templates.staged([
          { id: before.id, value: undefined },
          { id: after.id, value: after },
        ]),
      );
    } catch (error) {
      await starts.startAgain(restarted);
      throw error;
    }
  }

  async #follow(
    task: TaskRecord,
    template: TemplateRecord,
    restarted: TaskRecord[],
  ): Promise<TaskRecord> {
    try {
      const after = followingTask(task, template, this.#context());
      if (after.status === 'enabled') {
        restarted.push(task);
        await this.#options.starts.run(after);
      }
      return after;
    } catch (error) {
      const Kind = kindOf(error);
      throw new Kind(`error reloading associated task ${task.id}: ${plainReason(error)}`, {
        cause: error,
      });
    }
  }

  #context(): ChangeContext {
    const { templates, environment, split, clock } = this.#options;
    return { templates, environment, split, now: formatRfc3339(clock.now()) };
  }
}

// What reloading says is the reason alone, without the frame that defining puts around it.
function plainReason(error: unknown): string {
  const message = messageOf(error);
  return error instanceof AppError ? message.replace(/^invalid TICKscript: /, '') : message;
}
