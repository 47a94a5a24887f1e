// The model of tasks and templates, and of the effects of points on running tasks.
import { FAILURE, isAnything, isText, isTime } from './call.ts';
import type { Call, Expected } from './call.ts';
import type { AlertsModel } from './alerts-model.ts';
import {
  areVarsReadable,
  formatted,
  isDefinable,
  isStartable,
  isTemplateScript,
  varsOf,
  written,
} from './scripts.ts';
import { RunningModel } from './running-model.ts';
import type { ModelPoint, SavedState } from './running-model.ts';
import type { DbrpSpec, ScriptSpec, Step, TaskChange, VarsSpec } from './steps.ts';

export type ModelTask = {
  id: string;
  template: string;
  script: ScriptSpec;
  vars: VarsSpec;
  dbrps: readonly DbrpSpec[];
  status: 'enabled' | 'disabled';
  /** Number of its last enabling; 0 when there was none. */
  enabling: number;
  running: RunningModel | undefined;
  created: string;
};

type Template = { script: ScriptSpec; created: string };

const NEVER = '0001-01-01T00:00:00Z';

export const isIdAllowed = (id: string): boolean =>
  /^[-._\p{L}0-9]+$/u.test(id) && Buffer.byteLength(id) <= 1024;

export class TasksModel {
  readonly tasks = new Map<string, ModelTask>();
  readonly templates = new Map<string, Template>();
  readonly #alerts: AlertsModel;
  #enablings = 0;
  /** The state saved by the last clean stop. */
  #saved: ReadonlyMap<string, SavedState> = new Map();

  constructor(alerts: AlertsModel) {
    this.#alerts = alerts;
  }

  apply(step: Step): readonly Call[] | undefined {
    switch (step.kind) {
      case 'define-task':
        return [this.#define(step.task)];
      case 'patch-task':
        return [this.#patch(step.id, step.change)];
      case 'delete-task':
        this.tasks.delete(step.id);
        return [
          { method: 'DELETE', path: `tasks/${encodeURIComponent(step.id)}`, status: 204 },
          {
            method: 'GET',
            path: `tasks/${encodeURIComponent(step.id)}`,
            status: 404,
            json: FAILURE,
          },
        ];
      case 'define-template':
        return [this.#defineTemplate(step.id, step.script)];
      case 'patch-template':
        return [this.#patchTemplate(step)];
      case 'delete-template':
        this.templates.delete(step.id);
        return [{ method: 'DELETE', path: `templates/${step.id}`, status: 204 }];
      default:
        return undefined;
    }
  }

  #define(input: TaskChange & { readonly id: string }): Call {
    const call = { method: 'POST', path: 'tasks', body: bodyOf(input) } as const;
    const { id, template = '', vars = {}, dbrps = [], status = 'disabled' } = input;
    const script = template === '' ? input.script : this.templates.get(template)?.script;
    const isGood =
      isIdAllowed(id) &&
      !this.tasks.has(id) &&
      script !== undefined &&
      areVarsReadable(vars) &&
      isDefinable(script, vars) &&
      isOfType(input, script) &&
      dbrps.length > 0;
    if (!isGood) return { ...call, status: 400, json: FAILURE };
    const enabling = status === 'enabled' ? ++this.#enablings : 0;
    const created = '';
    const task = {
      id,
      template,
      script,
      vars,
      dbrps,
      status,
      enabling,
      created,
      running: undefined,
    };
    this.tasks.set(id, task);
    return this.#afterStart(task, call, status === 'enabled');
  }

  #patch(id: string, change: TaskChange): Call {
    const path = `tasks/${encodeURIComponent(id)}`;
    const call = { method: 'PATCH', path, body: bodyOf(change) } as const;
    // Invalid vars are refused before anything is looked up.
    if (!areVarsReadable(change.vars)) return { ...call, status: 400, json: FAILURE };
    const before = this.tasks.get(id);
    if (before === undefined) return { ...call, status: 404, json: FAILURE };
    const newId = change.id ?? id;
    if (!isIdAllowed(newId)) return { ...call, status: 400, json: FAILURE };
    if (newId !== id && this.tasks.has(newId)) return { ...call, status: 400, json: FAILURE };
    const after = this.#changed(before, change);
    if (after === undefined) return { ...call, status: 400, json: FAILURE };
    after.id = newId;
    this.tasks.delete(id);
    this.tasks.set(newId, after);
    const isRenamed = newId !== id;
    if (after.status === 'disabled') after.running = undefined;
    const isStarted = after.status === 'enabled' && (isRenamed || before.status === 'disabled');
    return this.#afterStart(after, call, isStarted);
  }

  /** A task as a patch makes it; `undefined` when the patch is refused. */
  #changed(before: ModelTask, change: TaskChange): ModelTask | undefined {
    const template = change.template ?? before.template;
    const status = change.status ?? before.status;
    const isTurnedOn = status === 'enabled' && before.status === 'disabled';
    // An empty script, an empty list and no template mean that nothing is said.
    const script = change.script?.form === 'empty' ? undefined : change.script;
    const dbrps = change.dbrps?.length === 0 ? undefined : change.dbrps;
    const isRedefined = [change.template, script, change.vars, dbrps].some(
      (each) => each !== undefined,
    );
    const after = {
      ...before,
      template,
      status,
      vars: change.vars ?? before.vars,
      dbrps: dbrps ?? before.dbrps,
      enabling: before.enabling,
    };
    if (!isRedefined && !isTurnedOn) return isOfType(change, before.script) ? after : undefined;
    if (isTurnedOn) after.enabling = ++this.#enablings;
    const found =
      template === '' ? (script ?? before.script) : this.templates.get(template)?.script;
    if (found === undefined || !isDefinable(found, after.vars)) return undefined;
    if (!isOfType(change, found)) return undefined;
    return { ...after, script: found };
  }

  /**
   * Starts a task where that is due; one that does not start stays as it is, and the answer says
   * so.
   */
  #afterStart(
    task: ModelTask,
    call: Pick<Call, 'method' | 'path' | 'body'>,
    isStarted: boolean,
  ): Call {
    if (isStarted && !isStartable(task)) {
      task.running = undefined;
      return { ...call, status: 400, json: FAILURE };
    }
    if (isStarted) task.running = new RunningModel(task.id, task);
    return { ...call, status: 200, json: taskView(task), onAnswer: rememberCreation(task) };
  }

  #defineTemplate(id: string, script: ScriptSpec): Call {
    const body = {
      id,
      type: script.form === 'batch' ? 'batch' : 'stream',
      script: written(script),
    };
    const call = { method: 'POST', path: 'templates', body } as const;
    if (!isIdAllowed(id) || this.templates.has(id) || !isTemplateScript(script)) {
      return { ...call, status: 400, json: FAILURE };
    }
    const template = { script, created: '' };
    this.templates.set(id, template);
    const json = templateView(id, template);
    return { ...call, status: 200, json, onAnswer: rememberCreation(template) };
  }

  #patchTemplate(step: Extract<Step, { kind: 'patch-template' }>): Call {
    const { id, newId = id } = step;
    const body = {
      ...(step.newId === undefined ? {} : { id: newId }),
      ...(step.script === undefined ? {} : { script: written(step.script) }),
    };
    const call = { method: 'PATCH', path: `templates/${id}`, body } as const;
    const before = this.templates.get(id);
    if (before === undefined) return { ...call, status: 404, json: FAILURE };
    if (!isIdAllowed(newId)) return { ...call, status: 400, json: FAILURE };
    if (newId !== id && this.templates.has(newId)) return { ...call, status: 400, json: FAILURE };
    const isSaid = step.script !== undefined && step.script.form !== 'empty';
    const script = isSaid ? (step.script ?? before.script) : before.script;
    if (!isTemplateScript(script)) return { ...call, status: 400, json: FAILURE };
    if (!this.#follow(id, newId, script)) return { ...call, status: 400, json: FAILURE };
    const after = { ...before, script };
    this.templates.delete(id);
    this.templates.set(newId, after);
    return { ...call, status: 200, json: templateView(newId, after) };
  }

  /** All tasks of a template take its script over, or none. */
  #follow(id: string, newId: string, script: ScriptSpec): boolean {
    const users = [...this.tasks.values()]
      .filter((task) => task.template === id)
      .sort((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
    const failing = users.findIndex(
      (task) =>
        !isDefinable(script, task.vars) ||
        (task.status === 'enabled' && !isStartable({ ...task, script })),
    );
    // Those that had been reloaded run again as they are stored.
    const reloaded = failing < 0 ? users : users.slice(0, failing + 1);
    for (const task of reloaded) {
      if (failing < 0) Object.assign(task, { script, template: newId });
      if (task.status !== 'enabled') continue;
      task.running = isStartable(task) ? new RunningModel(task.id, task) : undefined;
    }
    return failing < 0;
  }

  /** Points that come to all running tasks. */
  write(points: readonly ModelPoint[]): readonly Call[] {
    const calls: Call[] = [];
    for (const { id, running } of this.tasks.values()) {
      if (running === undefined) continue;
      const mine = points.filter(({ db }) => running.dbrps.some((pair) => pair.db === db));
      for (const point of mine) running.push(point, this.#alerts);
      if (mine.length > 0)
        calls.push(outputCall(id, running), ...this.#alerts.settle(running.script.topic, id));
    }
    return calls;
  }

  /** The engine was started again: what is enabled runs from the beginning. */
  restart(how: 'stop' | 'kill'): void {
    if (how === 'stop') {
      const running = [...this.tasks.values()].filter((task) => task.running !== undefined);
      this.#saved = new Map(
        running.map(({ id, running: task }) => [id, task?.save()] as [string, SavedState]),
      );
    }
    for (const task of this.tasks.values()) {
      const runs = task.status === 'enabled' && isStartable(task);
      task.running = runs ? new RunningModel(task.id, task) : undefined;
      task.running?.restore(this.#saved.get(task.id));
    }
  }

  checks(): readonly Call[] {
    const byId = <T>(map: ReadonlyMap<string, T>): [string, T][] =>
      [...map].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const tasks = byId(this.tasks).map(([, task]) => taskView(task));
    const templates = byId(this.templates).map(([id, template]) => templateView(id, template));
    const single = [...this.tasks.values()].flatMap((task) => [
      {
        method: 'GET' as const,
        path: `tasks/${encodeURIComponent(task.id)}?script-format=raw`,
        status: 200,
        json: { ...taskView(task), script: written(task.script) },
        isSettling: true,
      },
      ...(task.running === undefined
        ? [{ ...outputCall(task.id, undefined), status: 404, json: FAILURE }]
        : [outputCall(task.id, task.running)]),
    ]);
    return [
      { method: 'GET', path: 'tasks', status: 200, json: { tasks }, isSettling: true },
      { method: 'GET', path: 'templates', status: 200, json: { templates } },
      ...single,
    ];
  }
}

function outputCall(id: string, running: RunningModel | undefined): Call {
  return {
    method: 'GET',
    path: `tasks/${encodeURIComponent(id)}/out`,
    status: 200,
    json: running?.output(),
    isSettling: true,
  };
}

function isOfType({ type }: TaskChange, { form }: ScriptSpec): boolean {
  return type === undefined || type === form;
}

function rememberCreation(record: { created: string }): (json: unknown) => void {
  return (json) => {
    if (record.created !== '') return;
    record.created = (json as { readonly created: string }).created;
  };
}

function bodyOf(change: TaskChange): object {
  const { id, template, script, vars, dbrps, status, type } = change;
  return {
    ...(id === undefined ? {} : { id }),
    ...(template === undefined ? {} : { 'template-id': template }),
    ...(script === undefined ? {} : { script: written(script) }),
    ...(vars === undefined ? {} : { vars }),
    ...(dbrps === undefined ? {} : { dbrps }),
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
  };
}

function taskView(task: ModelTask): Readonly<Record<string, Expected>> {
  const isFailed = task.status === 'enabled' && task.running === undefined;
  // Its queries fail when their time comes; until then there is nothing to say.
  const { form, cluster } = task.running?.script ?? task.script;
  const isWithoutCluster = form === 'batch' && cluster === 'nope';
  const lastEnabled = (actual: unknown): boolean =>
    task.enabling > 0 ? isTime(actual) && actual !== NEVER : actual === NEVER;
  return {
    id: task.id,
    link: { rel: 'self', href: `@/tasks/${encodeURIComponent(task.id)}` },
    'template-id': task.template,
    type: task.script.form,
    dbrps: task.dbrps,
    script: formatted(task.script),
    vars: task.vars as Expected,
    status: task.status,
    executing: task.running !== undefined,
    error: isFailed ? isText : isWithoutCluster ? isAnything : '',
    stats: (actual) => actual !== null && typeof actual === 'object',
    dot: (actual) => String(actual).startsWith('digraph '),
    created: task.created === '' ? isTime : task.created,
    modified: isTime,
    'last-enabled': lastEnabled,
  };
}

function templateView(id: string, { script, created }: Template): Expected {
  return {
    id,
    link: { rel: 'self', href: `@/templates/${id}` },
    type: script.form,
    script: formatted(script),
    vars: varsOf(script) as Expected,
    error: '',
    created: created === '' ? isTime : created,
    modified: isTime,
  };
}
