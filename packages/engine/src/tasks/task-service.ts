// Tasks: defining, changing, listing and deleting them, and keeping what runs in step with what is
// stored.
import {
  AppError,
  Conflict,
  formatRfc3339,
  Internal,
  InvalidRequest,
  messageOf,
  NotFound,
  Unavailable,
} from '@tidemark/core';
import type { Clock, Diagnostic } from '@tidemark/core';
import type { AlertService } from '@tidemark/alerting';
import { effectsOf, printVars } from '@tidemark/pipeline';
import type { EdgeType, HandlerSpec, NodeSpec, Pipeline, Vars } from '@tidemark/pipeline';
import { checkTexts, StartError } from '@tidemark/runtime';
import type { TaskState } from '@tidemark/runtime';
import type { ChangeLock } from './change-lock.ts';
import type { BuildEnvironment, Definition } from './definition.ts';
import { checkType, defineTask, readVars } from './definition.ts';
import type { Executor } from './executor.ts';
import { idOrRandom } from '../ids.ts';
import { parseJson, printJson } from '../http/json.ts';

import type { Metadata, Table } from '../store/metadata.ts';
import type { Redactor } from '../observability/redactor.ts';
import type { Reach } from '../services/reach.ts';
import type { Dbrp, TaskRecord, TaskStatus, TemplateRecord } from '../store/records.ts';
import { ZERO_TIME } from '../store/records.ts';
import { keepSecretVars, secretsOf } from './secret-vars.ts';
import { definitionOf } from './snapshots.ts';
import { checkAt, checkStartOf, findingsOf, spanOf } from './start-findings.ts';

/** What a client may say about a task; absent means unchanged, or the default for a new one. */
export type TaskInput = {
  readonly id?: string | undefined;
  readonly templateId?: string | undefined;
  /** What the client takes the script for. */
  readonly type?: EdgeType | undefined;
  readonly dbrps?: readonly Dbrp[] | undefined;
  readonly script?: string | undefined;
  readonly status?: TaskStatus | undefined;
  readonly vars?: Vars | undefined;
};

export type TaskServiceOptions = {
  readonly metadata: Metadata;
  readonly tasks: Table<TaskRecord>;
  readonly templates: Table<TemplateRecord>;
  readonly executor: Executor;
  /** Shared with the templates: no task changes while one of them does. */
  readonly lock: ChangeLock;
  readonly alerts: AlertService;
  readonly environment: () => BuildEnvironment;
  readonly reach: Reach;
  /** Told of the secrets among the vars of every task. */
  readonly redactor: Redactor;
  /** Refuses a node that names things which are not configured. */
  readonly checkNode: (node: NodeSpec) => void;
  /** Called before a task starts without its earlier state, which must not come back. */
  readonly onStartAnew: (id: string) => Promise<void>;
  /** Called after a task was started, new or with the state of an earlier run. */
  readonly onStarted: (id: string, isNew: boolean) => Promise<void>;
  readonly clock: Clock;
  readonly log: (message: string, fields: Readonly<Record<string, unknown>>) => void;
};

/** In the words that clients know, with what they asked for. */
export const noTask = (id: string): string => `no task exists with the id ${JSON.stringify(id)}`;

type Refusal = { readonly reason: string; readonly findings: readonly Diagnostic[] };

export class TaskService {
  readonly #options: TaskServiceOptions;
  /** Of the tasks that could not be started: what their scripts have to do with it. */
  readonly #refusals = new Map<string, Refusal>();

  constructor(options: TaskServiceOptions) {
    this.#options = options;
    for (const record of this.all()) this.#hideSecretsOf(record);
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

  all(): Iterable<TaskRecord> {
    return this.#options.tasks.values();
  }

  count(): number {
    return this.#options.tasks.count();
  }

  /**
   * Starts what was enabled when the engine was stopped. A task that can not start shows why; the
   * others run.
   */
  async startEnabled(savedOf?: (record: TaskRecord) => TaskState | undefined): Promise<void> {
    for (const record of this.all()) {
      if (record.status !== 'enabled') continue;
      try {
        await this.#start(record, savedOf);
      } catch (error) {
        // The task's own record shows the reason.
        this.#options.log('failed to start task', { task: record.id, err: messageOf(error) });
      }
    }
  }

  /**
   * Defines a new task. When it is enabled but can not start, it stays stored and the error is
   * thrown.
   */
  async define(input: TaskInput): Promise<TaskRecord> {
    const id = idOrRandom(input.id ?? '', 'task');
    return this.#options.lock.one(id, async () => {
      const { tasks } = this.#options;
      if (tasks.has(id)) throw new InvalidRequest(`task ${id} already exists`);
      const templateId = input.templateId ?? '';
      const script = templateId === '' ? (input.script ?? '') : this.#template(templateId).script;
      const vars = keepSecretVars(input.vars ?? new Map(), new Map());
      const defined = defineTask(
        { script, vars, dbrps: input.dbrps ?? [] },
        this.#options.environment(),
      );
      checkType(input.type, defined.type);
      const now = this.#now();
      const status = input.status ?? 'disabled';
      const record: TaskRecord = {
        id,
        templateId,
        type: defined.type,
        dbrps: defined.dbrps,
        script,
        varsJson: printJson(printVars(vars)),
        status,
        error: '',
        created: now,
        modified: now,
        lastEnabled: status === 'enabled' ? now : ZERO_TIME,
      };
      this.#hideSecretsOf(record);
      await tasks.put(id, record);
      if (status === 'enabled') await this.#start(record);
      return this.require(id);
    });
  }

  /**
   * Changes a task. Script, vars and database pairs of a running task take effect with its next
   * start.
   */
  async patch(id: string, input: TaskInput): Promise<TaskRecord> {
    return this.#options.lock.one(id, async () => {
      const { tasks } = this.#options;
      const before = tasks.get(id);
      if (before === undefined)
        throw new NotFound(`task does not exist, cannot update: ${JSON.stringify(id)}`);
      const newId = input.id === undefined || input.id === '' ? id : idOrRandom(input.id, 'task');
      if (newId !== id && tasks.has(newId)) {
        throw new Conflict('failed to create new task during ID change: object already exists');
      }
      const after = { ...this.#applyPatch(before, input), id: newId };
      const isRenamed = newId !== id;
      this.#hideSecretsOf(after);
      await tasks.change([
        { id, value: isRenamed ? undefined : after },
        { id: newId, value: after },
      ]);
      await this.#followStatus(before, after);
      return this.require(newId);
    });
  }

  #applyPatch(before: TaskRecord, input: TaskInput): TaskRecord {
    const templateId = input.templateId || before.templateId;
    const status = input.status ?? before.status;
    const isTurnedOn = status === 'enabled' && before.status === 'disabled';
    const isDefinitionChanged =
      input.vars !== undefined ||
      (input.script ?? '') !== '' ||
      (input.dbrps ?? []).length > 0 ||
      (input.templateId ?? '') !== '';
    // An orphan can still be disabled and renamed; it only can not be enabled or redefined.
    const needsTemplate = templateId !== '' && (isTurnedOn || isDefinitionChanged);
    const ownScript =
      input.script === undefined || input.script === '' ? before.script : input.script;
    const script = needsTemplate
      ? this.#template(templateId).script
      : templateId === ''
        ? ownScript
        : before.script;
    const stored = varsOf(before);
    const vars = input.vars === undefined ? stored : keepSecretVars(input.vars, stored);
    const isDefined = isDefinitionChanged || isTurnedOn || script !== before.script;
    const defined = isDefined
      ? defineTask(
          { script, vars, dbrps: input.dbrps ?? [], storedDbrps: before.dbrps },
          this.#options.environment(),
        )
      : before;
    checkType(input.type, defined.type);
    const now = this.#now();
    return {
      ...before,
      templateId,
      type: defined.type,
      dbrps: defined.dbrps,
      script,
      varsJson: printJson(printVars(vars)),
      status,
      error: status === 'disabled' ? '' : before.error,
      modified: now,
      lastEnabled: isTurnedOn ? now : before.lastEnabled,
    };
  }

  // Starts, stops or restarts what runs so that it is what the record says.
  async #followStatus(before: TaskRecord, after: TaskRecord): Promise<void> {
    const { executor } = this.#options;
    const isRenamed = before.id !== after.id;
    const wasRunning = executor.entry(before.id) !== undefined;
    if (after.status === 'disabled') {
      this.#refusals.delete(before.id);
      if (wasRunning) await executor.stop(before.id);
      this.#forgetSecretsOf(before.id, after);
      return;
    }
    if (isRenamed) this.#refusals.delete(before.id);
    if (isRenamed && wasRunning) await executor.stop(before.id);
    if (isRenamed) this.#forgetSecretsOf(before.id, after);
    if (isRenamed || before.status === 'disabled') await this.#start(after);
  }

  /** Stops and deletes a task with its anonymous topics; one that does not exist is fine. */
  async delete(id: string): Promise<void> {
    await this.#options.lock.one(id, async () => {
      const { executor, tasks, alerts } = this.#options;
      await executor.stop(id);
      this.#refusals.delete(id);
      await tasks.remove(id);
      this.#options.redactor.setOwned(id, []);
      await alerts.deleteTopicsOf('main', id);
    });
  }

  /**
   * Replaces a template and gives its tasks the new script. All follow or none: when one can not
   * run or nothing can be stored, all run again as before and the reason is thrown. Only inside
   * `whileTasksRest`.
   */
  async followTemplate(before: TemplateRecord, after: TemplateRecord): Promise<void> {
    const { metadata, tasks, templates } = this.#options;
    const users = [...this.all()].filter(({ templateId }) => templateId === before.id);
    const restarted: TaskRecord[] = [];
    try {
      const changed: TaskRecord[] = [];
      for (const task of users) changed.push(await this.#follow(task, after, restarted));
      await metadata.changeAll(
        tasks.staged(changed.map((task) => ({ id: task.id, value: task }))),
        templates.staged([
          { id: before.id, value: undefined },
          { id: after.id, value: after },
        ]),
      );
    } catch (error) {
      await this.#runAgain(restarted);
      throw error;
    }
  }

  async #follow(
    task: TaskRecord,
    template: TemplateRecord,
    restarted: TaskRecord[],
  ): Promise<TaskRecord> {
    try {
      const after = this.#redefined(task, template);
      if (after.status === 'enabled') {
        restarted.push(task);
        await this.#execute(after);
      }
      return after;
    } catch (error) {
      const Kind = kindOf(error);
      throw new Kind(`error reloading associated task ${task.id}: ${plainReason(error)}`, {
        cause: error,
      });
    }
  }

  #redefined(before: TaskRecord, template: TemplateRecord): TaskRecord {
    const defined = defineTask(
      { script: template.script, vars: varsOf(before), dbrps: [], storedDbrps: before.dbrps },
      this.#options.environment(),
    );
    return {
      ...before,
      templateId: template.id,
      script: template.script,
      type: defined.type,
      dbrps: defined.dbrps,
      error: '',
      modified: this.#now(),
    };
  }

  async #runAgain(records: readonly TaskRecord[]): Promise<void> {
    for (const record of records) {
      try {
        await this.#start(record);
      } catch (error) {
        // It ran before; the record shows why it does not now.
        this.#options.log('failed to restart task', { task: record.id, err: messageOf(error) });
      }
    }
  }

  /** What a stored task would be if it were started now. */
  definitionOf(record: TaskRecord): Definition {
    return defineTask(
      { script: record.script, vars: varsOf(record), dbrps: [], storedDbrps: record.dbrps },
      this.#options.environment(),
    );
  }

  /** As `definitionOf`, with everything checked that is only examined at the start. */
  startableOf(record: TaskRecord): Definition {
    const definition = this.definitionOf(record);
    const diagnostics = definition.checkStart();
    const [problem] = diagnostics;
    if (problem !== undefined) throw new InvalidRequest(problem.message, { diagnostics });
    const { alerts, checkNode } = this.#options;
    const { script } = record;
    const { pipeline } = definition;
    for (const handler of scriptHandlersOf(pipeline)) {
      checkAt({ script, span: handler.span }, () => alerts.checkScriptHandlers([handler]));
    }
    for (const node of pipeline.nodes) {
      checkAt({ script, span: spanOf(node, ['cluster']) }, () => checkNode(node));
    }
    for (const node of pipeline.nodes) checkStartOf(script, node, () => checkTexts(node));
    return definition;
  }

  /** What keeps a task from starting: found without starting it, or when that was tried last. */
  findings(record: TaskRecord): readonly Diagnostic[] {
    if (this.#options.executor.running(record.id) !== undefined) return [];
    const refusal = this.#refusals.get(record.id);
    if (refusal !== undefined && refusal.reason === record.error) return refusal.findings;
    try {
      this.startableOf(record);
      return [];
    } catch (error) {
      return this.#findingsOf(error, record);
    }
  }

  /**
   * What lets a task start but fails for every point, and what it could not reach now; nothing when
   * it can not start at all.
   */
  async warnings(record: TaskRecord): Promise<readonly Diagnostic[]> {
    try {
      const definition = this.definitionOf(record);
      if (definition.checkStart().length > 0) return [];
      const unreached = await this.#options.reach.unreached(record.script, definition);
      return [...definition.warnings(), ...unreached];
    } catch (error) {
      // Told by `findings`.
      if (error instanceof InvalidRequest) return [];
      throw error;
    }
  }

  #findingsOf(error: unknown, record: TaskRecord): readonly Diagnostic[] {
    const { script } = record;
    return findingsOf(error, { script, pipeline: () => this.definitionOf(record).pipeline });
  }

  async #start(
    record: TaskRecord,
    savedOf?: (record: TaskRecord) => TaskState | undefined,
  ): Promise<void> {
    this.#refusals.delete(record.id);
    try {
      await this.#execute(record, savedOf);
      if (record.error !== '') await this.#setError(record.id, '');
    } catch (error) {
      const reason = this.#options.redactor.redact(messageOf(error));
      const findings = this.#findingsOf(error, record);
      this.#refusals.set(record.id, { reason, findings });
      await this.#setError(record.id, reason);
      const Kind = kindOf(error);
      throw new Kind(reason, { cause: error, diagnostics: findings });
    }
  }

  /** Runs a task as the record says, in place of what ran under its id. */
  async #execute(
    record: TaskRecord,
    savedOf?: (record: TaskRecord) => TaskState | undefined,
  ): Promise<void> {
    const { executor } = this.#options;
    await executor.stop(record.id);
    this.#forgetSecretsOf(record.id, record);
    const { pipeline } = this.startableOf(record);
    if (savedOf === undefined) await this.#options.onStartAnew(record.id);
    const saved = savedOf?.(record);
    await executor.start(
      { id: record.id, pipeline, dbrps: record.dbrps, definition: definitionOf(record), saved },
      {
        died: (error) => this.#died(record.id, error),
        restarted: (reason) => this.#storeError('task was started again', record.id, reason),
        gaveUp: (reason) => this.#storeError('task gave up catching up', record.id, reason),
      },
    );
    await this.#options.onStarted(record.id, saved === undefined);
  }

  #died(id: string, error: string): void {
    this.#storeError('task died', id, error);
  }

  #storeError(event: string, id: string, error: string): void {
    this.#options.log(event, { task: id, err: error });
    this.#setError(id, error).catch((cause: unknown) => {
      this.#options.log('failed to store the error of a task', { task: id, err: messageOf(cause) });
    });
  }

  async #setError(id: string, error: string): Promise<void> {
    const record = this.get(id);
    if (record === undefined) return;
    // The secret that it may quote can be another one when it is shown.
    const shown = this.#options.redactor.redact(error);
    await this.#options.tasks.put(id, { ...record, error: shown });
  }

  /** A task that runs goes on with the secrets of its last start, until the next one. */
  #hideSecretsOf(record: TaskRecord): void {
    this.#options.redactor.addOwned(record.id, secretsOf(varsOf(record)));
  }

  /** Nothing runs any more with other secrets than the record's. */
  #forgetSecretsOf(id: string, record: TaskRecord): void {
    const { redactor } = this.#options;
    redactor.setOwned(id, []);
    redactor.setOwned(record.id, secretsOf(varsOf(record)));
  }

  #template(id: string): TemplateRecord {
    const template = this.#options.templates.get(id);
    if (template === undefined) {
      throw new InvalidRequest(`unknown template ${id}: err: no template exists`);
    }
    return template;
  }

  #now(): string {
    return formatRfc3339(this.#options.clock.now());
  }
}

/** Vars as they are stored with a task. */
export function varsOf(record: TaskRecord): Vars {
  return readVars(parseJson(Buffer.from(record.varsJson), ''));
}

/** Handlers that the script of a pipeline attaches to its alert nodes. */
export function scriptHandlersOf(pipeline: Pipeline): readonly HandlerSpec[] {
  return pipeline.nodes.flatMap((node) => effectsOf(node).handlers ?? []);
}

// What a script has wrong stays so when the request is repeated. Starting forgets an earlier state,
// which a full disk refuses: that can be tried again.
function kindOf(error: unknown): typeof InvalidRequest | typeof Unavailable | typeof Internal {
  if (error instanceof InvalidRequest || error instanceof StartError) return InvalidRequest;
  return error instanceof Unavailable ? Unavailable : Internal;
}

// What reloading says is the reason alone, without the frame that defining puts around it.
function plainReason(error: unknown): string {
  const message = messageOf(error);
  return error instanceof AppError ? message.replace(/^invalid TICKscript: /, '') : message;
}
