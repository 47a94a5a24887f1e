// Builds records of tasks from requests: a new task, a changed one, one whose template has changed.
// Everything is checked; nothing is stored or started.
import { InvalidRequest } from '@tidemark/core';
import { printVars } from '@tidemark/pipeline';
import type { EdgeType, Pipeline, Vars } from '@tidemark/pipeline';
import { printJson } from '../formats/json.ts';
import type { Table } from '../store/table.ts';
import type { Dbrp, TaskRecord, TaskStatus, TemplateRecord } from '../store/records.ts';
import { ZERO_TIME } from '../store/records.ts';
import { checkType, defineTask, varsOf } from './definition.ts';
import type { BuildEnvironment } from './definition.ts';
import { keepSecretVars } from './secret-vars.ts';
import { checkSplit } from './split.ts';
import type { SplitSetting } from './split.ts';

/** A client's input for a task; absent means unchanged, or the default for a new one. */
export type TaskInput = {
  readonly id?: string | undefined;
  readonly templateId?: string | undefined;
  /** The type that the client expects. */
  readonly type?: EdgeType | undefined;
  readonly dbrps?: readonly Dbrp[] | undefined;
  readonly script?: string | undefined;
  readonly status?: TaskStatus | undefined;
  readonly vars?: Vars | undefined;
  /** Number of parts; 0 leaves it to the configuration. */
  readonly split?: number | undefined;
  /** For an enabled task: restart it with the change at once. */
  readonly restart?: boolean | undefined;
};

/** The context for checking changes. */
export type ChangeContext = {
  readonly templates: Table<TemplateRecord>;
  readonly environment: () => BuildEnvironment;
  readonly split: SplitSetting;
  /** The time of the change. */
  readonly now: string;
};

/** A new task. */
export function newTask(id: string, input: TaskInput, context: ChangeContext): TaskRecord {
  const templateId = input.templateId ?? '';
  const script = templateId === '' ? (input.script ?? '') : templateOf(templateId, context).script;
  const vars = keepSecretVars(input.vars ?? new Map(), new Map());
  const defined = defineTask({ script, vars, dbrps: input.dbrps ?? [] }, context.environment());
  checkType(input.type, defined.type);
  const split = input.split === 0 ? undefined : input.split;
  const { now } = context;
  const status = input.status ?? 'disabled';
  return {
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
    ...splitting(split, { script, pipeline: defined.pipeline }, context),
  };
}

/** A task with a client's changes; its id stays. */
export function changedTask(
  before: TaskRecord,
  input: TaskInput,
  context: ChangeContext,
): TaskRecord {
  const templateId = input.templateId || before.templateId;
  const status = input.status ?? before.status;
  const isTurnedOn = status === 'enabled' && before.status === 'disabled';
  const isDefinitionChanged =
    input.vars !== undefined ||
    (input.script ?? '') !== '' ||
    (input.dbrps ?? []).length > 0 ||
    (input.templateId ?? '') !== '';
  // An orphan can still be disabled and renamed; it only cannot be enabled or redefined.
  const needsTemplate = templateId !== '' && (isTurnedOn || isDefinitionChanged);
  const ownScript = templateId === '' ? input.script || before.script : before.script;
  const script = needsTemplate ? templateOf(templateId, context).script : ownScript;
  const stored = varsOf(before);
  const vars = input.vars === undefined ? stored : keepSecretVars(input.vars, stored);
  const split = input.split === undefined ? before.split : input.split || undefined;
  const isDefined =
    isDefinitionChanged || isTurnedOn || script !== before.script || split !== before.split;
  const definition = isDefined
    ? defineTask(
        { script, vars, dbrps: input.dbrps ?? [], storedDbrps: before.dbrps },
        context.environment(),
      )
    : undefined;
  const defined = definition ?? before;
  checkType(input.type, defined.type);
  return {
    ...before,
    ...(definition && splitting(split, { script, pipeline: definition.pipeline }, context)),
    templateId,
    type: defined.type,
    dbrps: defined.dbrps,
    script,
    varsJson: printJson(printVars(vars)),
    status,
    error: status === 'disabled' ? '' : before.error,
    modified: context.now,
    lastEnabled: isTurnedOn ? context.now : before.lastEnabled,
  };
}

/** A task with the present script of its template. */
export function followingTask(
  before: TaskRecord,
  template: TemplateRecord,
  context: ChangeContext,
): TaskRecord {
  const { script } = template;
  const defined = defineTask(
    { script, vars: varsOf(before), dbrps: [], storedDbrps: before.dbrps },
    context.environment(),
  );
  return {
    ...before,
    ...splitting(before.split, { script, pipeline: defined.pipeline }, context),
    templateId: template.id,
    script,
    type: defined.type,
    dbrps: defined.dbrps,
    error: '',
    modified: context.now,
  };
}

/** The split of a record. Throws `InvalidRequest` if it cannot be split. */
function splitting(
  split: number | undefined,
  definition: { readonly script: string; readonly pipeline: Pipeline },
  context: ChangeContext,
): Pick<TaskRecord, 'split' | 'parts'> {
  const parts = checkSplit(split, definition, context.split);
  return { split, parts: parts === 1 ? undefined : parts };
}

function templateOf(id: string, { templates }: ChangeContext): TemplateRecord {
  const template = templates.get(id);
  if (template === undefined) {
    throw new InvalidRequest(
      `unknown template ${JSON.stringify(id)}: no template exists with that id`,
    );
  }
  return template;
}
