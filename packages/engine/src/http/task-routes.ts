// Endpoints of tasks and templates.
import { formatRfc3339, InvalidRequest, messageOf, NotFound } from '@tidemark/core';
import { printDataJson } from '@tidemark/alerting';
import { formatDot, formatRunningDot, printVars } from '@tidemark/pipeline';
import type { Pipeline } from '@tidemark/pipeline';
import { defineTemplate, readVars, showScript } from '../tasks/definition.ts';
import type { DataAccess } from '../access/data-access.ts';
import type { BuildEnvironment } from '../tasks/definition.ts';
import type { Executor } from '../tasks/executor.ts';
import type { Executing } from '../tasks/unit.ts';
import type { Dbrp, TaskRecord, TemplateRecord } from '../store/records.ts';
import { dotStats, printTaskStats } from '../tasks/task-stats.ts';
import { hideSecretVars } from '../tasks/secret-vars.ts';
import { varsOf } from '../tasks/definition.ts';
import type { TaskChecks } from '../tasks/task-checks.ts';
import { databasesOf } from '../tasks/task-databases.ts';
import type { TaskStarts } from '../tasks/task-starts.ts';
import type { TaskInput } from '../tasks/task-change.ts';
import type { TaskService } from '../tasks/task-service.ts';
import type { TaskVersion } from '../tasks/task-versions.ts';
import type { TemplateInput, TemplateService } from '../tasks/template-service.ts';
import { printDiagnostics, wantsDiagnostics } from './diagnostics.ts';
import { asObject, parseJson } from '../formats/json.ts';
import { optionalChoice, optionalFlag, optionalText, refuseMember } from './members.ts';
import type { Document } from './members.ts';
import { readFields, readPage, readPattern } from '../formats/params.ts';
import type { QueryParams } from '../formats/params.ts';
import { pathTo } from './routes.ts';
import { readSplit } from '../tasks/split.ts';
import type { Api, ApiRequest, ApiResponse } from './api.ts';

export type TaskRoutesOptions = {
  readonly tasks: TaskService;
  readonly checks: TaskChecks;
  readonly starts: TaskStarts;
  readonly templates: TemplateService;
  readonly executor: Executor;
  readonly environment: () => BuildEnvironment;
  /** Hides secrets in errors. */
  readonly redact: (text: string) => string;
  /** The task of a replay, by the replay's id. Throws when there is none for that task. */
  readonly replayOf: (replayId: string, taskId: string) => Executing;
};

/** Only shown on request: older clients do not know it. */
const LAG = 'lag';

/** Shown for tasks that run with an earlier definition. */
const NEEDS_RESTART = 'needs-restart';

const TASK_FIELDS = [
  'template-id',
  'type',
  'dbrps',
  'script',
  'dot',
  'status',
  'executing',
  'error',
  'stats',
  'vars',
  'created',
  'modified',
  'last-enabled',
  'split',
  NEEDS_RESTART,
  LAG,
];
const TEMPLATE_FIELDS = ['type', 'script', 'dot', 'error', 'vars', 'created', 'modified'];

export function addTaskRoutes(api: Api, options: TaskRoutesOptions): void {
  const { tasks, templates } = options;
  const links = (request: ApiRequest, kind: string, id: string): object => ({
    rel: 'self',
    href: pathTo(`${request.base}/${kind}`, id),
  });
  const warningsOf = async (record: TaskRecord): Promise<object> => ({
    warnings: printDiagnostics(await options.checks.warnings(record), options.redact),
  });
  const showTask = async (
    record: TaskRecord,
    request: ApiRequest,
    view: View,
  ): Promise<ApiResponse> => ({
    status: 200,
    json: {
      link: links(request, 'tasks', record.id),
      ...show(await taskView(record, view, { ...options, data: request.data }), undefined),
      ...(wantsDiagnostics(request.query)
        ? {
            diagnostics: printDiagnostics(options.starts.diagnostics(record), options.redact),
            ...(await warningsOf(record)),
          }
        : {}),
    },
  });

  api.on('POST', '/tasks', async (request) => {
    const record = await tasks.define(readTaskInput(request.body), request.user?.name);
    return showTask(record, request, DEFAULT_VIEW);
  });
  api.on('PATCH', '/tasks/:id', async (request) => {
    const input = readTaskInput(request.body);
    const record = await tasks.patch(request.params['id'] ?? '', input, request.user?.name);
    return showTask(record, request, DEFAULT_VIEW);
  });
  api.on('GET', '/tasks/:id', async (request) => {
    const record = tasks.require(request.params['id'] ?? '');
    const view = readView(request.query);
    await executingOf(record.id, view.replayId, options)?.task.refresh();
    return showTask(record, request, view);
  });
  api.on('DELETE', '/tasks/:id', async (request) => {
    await tasks.delete(request.params['id'] ?? '');
    return { status: 204 };
  });
  api.on('GET', '/tasks', async (request) => {
    const fields = readFields(request.query, TASK_FIELDS);
    const view = readView(request.query);
    const isWarning = wantsDiagnostics(request.query);
    const data = request.data.ofParts();
    const shown = takePage(tasks.all(), request).map(async (record) => ({
      link: links(request, 'tasks', record.id),
      ...show(await taskView(record, view, { ...options, data }), fields),
      ...(isWarning ? await warningsOf(record) : {}),
    }));
    return { status: 200, json: { tasks: await Promise.all(shown) } };
  });
  api.on('GET', '/tasks/:id/*', (request) => httpOutput(request, options));
  // Endpoints below a task are those of its script.
  api.on('GET', '/task-versions/:id', (request) => {
    const id = request.params['id'] ?? '';
    const versions = tasks.versions(id).map(versionView);
    return { status: 200, json: { link: { rel: 'self', href: request.url }, id, versions } };
  });

  const showTemplate = (record: TemplateRecord, request: ApiRequest, view: View): ApiResponse => ({
    status: 200,
    json: {
      link: links(request, 'templates', record.id),
      ...show(templateView(record, view, options.environment()), undefined),
    },
  });
  api.on('POST', '/templates', async (request) => {
    const record = await templates.define(readTemplateInput(request.body));
    return showTemplate(record, request, DEFAULT_VIEW);
  });
  api.on('PATCH', '/templates/:id', async (request) => {
    const id = request.params['id'] ?? '';
    const input = readTemplateInput(request.body);
    const record = await templates.patch(id, input, request.user?.name);
    return showTemplate(record, request, DEFAULT_VIEW);
  });
  api.on('GET', '/templates/:id', (request) => {
    const record = templates.require(request.params['id'] ?? '');
    return showTemplate(record, request, readView(request.query));
  });
  api.on('DELETE', '/templates/:id', async (request) => {
    await templates.delete(request.params['id'] ?? '');
    return { status: 204 };
  });
  api.on('GET', '/templates', (request) => {
    const fields = readFields(request.query, TEMPLATE_FIELDS);
    const view = readView(request.query);
    const page = takePage(templates.all(), request);
    return {
      status: 200,
      json: {
        templates: page.map((record) => ({
          link: links(request, 'templates', record.id),
          ...show(templateView(record, view, options.environment()), fields),
        })),
      },
    };
  });
}

/** The part of a list that `pattern`, `offset` and `limit` select. */
export function takePage<T extends { readonly id: string }>(
  all: Iterable<T>,
  request: ApiRequest,
): readonly T[] {
  const { offset, limit } = readPage(request.query);
  const matches = readPattern(request.query);
  const found: T[] = [];
  let skipped = 0;
  for (const record of all) {
    if (!matches(record.id)) continue;
    if (skipped < offset) skipped++;
    else if (found.length < limit) found.push(record);
    else break;
  }
  return found;
}

type View = {
  readonly scriptFormat: 'formatted' | 'raw';
  readonly dotView: 'attributes' | 'labels';
  readonly replayId: string;
};

const DEFAULT_VIEW: View = { scriptFormat: 'formatted', dotView: 'attributes', replayId: '' };

function readView(query: QueryParams): View {
  const scriptFormat = query.get('script-format') || 'formatted';
  if (scriptFormat !== 'formatted' && scriptFormat !== 'raw') {
    throw new InvalidRequest(`invalid script-format parameter ${JSON.stringify(scriptFormat)}`);
  }
  const dotView = query.get('dot-view') || 'attributes';
  if (dotView !== 'attributes' && dotView !== 'labels') {
    throw new InvalidRequest(`invalid dot-view parameter ${JSON.stringify(dotView)}`);
  }
  return { scriptFormat, dotView, replayId: query.get('replay-id') };
}

/**
 * Members of an answer that are only computed when they are shown: scripts and graphs cost more
 * than everything else.
 */
type LazyView = Readonly<Record<string, () => unknown>>;

async function taskView(
  record: TaskRecord,
  view: View,
  options: TaskRoutesOptions & { readonly data: DataAccess },
): Promise<LazyView> {
  const executing = executingOf(record.id, view.replayId, options);
  const { redact } = options;
  const diedOf = view.replayId === '' ? options.executor.entry(record.id) : undefined;
  // Errors quote values, and counters show the rate of data.
  const isReadable = await options.data.mayRead(() => [
    ...databasesOf(record),
    ...(executing?.databases ?? []),
  ]);
  return {
    id: () => record.id,
    'template-id': () => record.templateId,
    type: () => record.type,
    dbrps: () => record.dbrps,
    script: () => scriptOf(record, view),
    vars: () => printVars(hideSecretVars(varsOf(record))),
    dot: () => dotOf(record, isReadable ? executing : undefined, view, options),
    status: () => record.status,
    executing: () => executing !== undefined && executing.task.error === undefined,
    // The record of a task that has just ended has the error a moment later.
    error: () =>
      isReadable
        ? redact(executing?.task.error ?? executing?.problem ?? diedOf?.task.error ?? record.error)
        : '',
    stats: () => (executing === undefined || !isReadable ? {} : printTaskStats(executing)),
    created: () => record.created,
    modified: () => record.modified,
    'last-enabled': () => record.lastEnabled,
    // Only shown if it was set, for tools that do not know it.
    ...(record.split === undefined ? {} : { split: () => record.split }),
    ...(options.tasks.needsRestart(record) ? { [NEEDS_RESTART]: () => true } : {}),
    [LAG]: () => lagOf(isReadable ? executing : undefined),
  };
}

/** How far a task is behind: waiting rows, and the time of its latest data. */
function lagOf(executing: Executing | undefined): Readonly<Record<string, unknown>> {
  if (executing === undefined) return {};
  const { newest, waitingRows } = executing.task.reached;
  return {
    waiting: waitingRows,
    ...(newest === undefined ? {} : { newest: formatRfc3339(newest) }),
  };
}

function versionView(version: TaskVersion): Readonly<Record<string, unknown>> {
  const { number, time, user, templateId, type, dbrps, script, varsJson, split } = version;
  const vars = parseJson(Buffer.from(varsJson), '');
  const asked = split === undefined ? {} : { split };
  return { number, time, user, 'template-id': templateId, type, dbrps, script, vars, ...asked };
}

function dotOf(
  record: TaskRecord,
  executing: Executing | undefined,
  view: View,
  options: TaskRoutesOptions,
): string {
  if (executing !== undefined) {
    return formatRunningDot(record.id, executing.pipeline, {
      stats: dotStats(executing),
      view: view.dotView,
    });
  }
  return remembered(`dot ${record.id} ${record.modified} ${record.script.length}`, () =>
    staticDot(() => options.checks.definitionOf(record).pipeline, record.id),
  );
}

// Cached texts derived from a stored definition, by id and time of the last change: formatting a
// script or drawing its graph costs more than the rest of a list.
const texts = new Map<string, string>();
const TEXTS_MAX = 20_000;

function remembered(key: string, make: () => string): string {
  let text = texts.get(key);
  if (text === undefined) {
    text = make();
    if (texts.size >= TEXTS_MAX) texts.clear();
    texts.set(key, text);
  }
  return text;
}

function scriptOf(record: TaskRecord | TemplateRecord, view: View): string {
  if (view.scriptFormat === 'raw') return record.script;
  // The length distinguishes two changes of one instant, which only a broken clock makes.
  const key = `script ${record.id} ${record.modified} ${record.script.length}`;
  return remembered(key, () => showScript(record.script, view.scriptFormat));
}

function staticDot(build: () => Pipeline, id: string): string {
  try {
    return formatDot(id, build());
  } catch {
    // The script was accepted once and is now invalid, for example because a function it uses is
    // gone.
    return '';
  }
}

function show(
  view: LazyView,
  fields: ReadonlySet<string> | undefined,
): Readonly<Record<string, unknown>> {
  const shown = Object.entries(view).filter(([name]) =>
    fields === undefined ? name !== LAG : fields.has(name),
  );
  return Object.fromEntries(shown.map(([name, make]) => [name, make()]));
}

function templateView(record: TemplateRecord, view: View, environment: BuildEnvironment): LazyView {
  const { vars, error } = templateVars(record, environment);
  return {
    id: () => record.id,
    type: () => record.type,
    script: () => scriptOf(record, view),
    vars: () => vars,
    dot: () => staticDot(() => defineTemplate(record.script, environment).pipeline, record.id),
    error: () => error,
    created: () => record.created,
    modified: () => record.modified,
  };
}

function templateVars(
  record: TemplateRecord,
  environment: BuildEnvironment,
): { readonly vars: Readonly<Record<string, unknown>>; readonly error: string } {
  try {
    return {
      vars: printVars(defineTemplate(record.script, environment).vars),
      error: record.error,
    };
  } catch (problem) {
    // Shown where clients expect it.
    return { vars: {}, error: messageOf(problem) };
  }
}

/** The live task or that of a replay. */
function executingOf(
  id: string,
  replayId: string,
  options: TaskRoutesOptions,
): Executing | undefined {
  return replayId === '' ? options.executor.running(id) : options.replayOf(replayId, id);
}

/** Rows of an `httpOut` node. */
async function httpOutput(request: ApiRequest, options: TaskRoutesOptions): Promise<ApiResponse> {
  const id = request.params['id'] ?? '';
  const executing = executingOf(id, request.query.get('replay-id'), options);
  const endpoint = request.params['*'] ?? '';
  await request.data.requireRead(executing?.databases ?? databasesOf(options.tasks.require(id)));
  const rows = await executing?.task.httpOutput(endpoint);
  if (rows === undefined) {
    options.tasks.require(id);
    const state = executing === undefined ? ' while it does not run' : '';
    throw new NotFound(`task ${id} has no endpoint ${JSON.stringify(endpoint)}${state}`);
  }
  // Null before the first rows, an empty list if there are none any more, as recorded.
  const text = rows?.length === 0 ? '{"series":[]}' : printDataJson(rows ?? []);
  return { status: 200, text: `${text}\n`, contentType: 'application/json' };
}

function readTaskInput(body: Uint8Array): TaskInput {
  return readTaskDocument(readBody(body));
}

/** Reads the definition of a task. Throws `InvalidRequest`, which names the member. */
export function readTaskDocument(document: Document): TaskInput {
  return {
    id: optionalText(document, 'id'),
    type: optionalChoice(document, 'type', ['stream', 'batch']),
    templateId: optionalText(document, 'template-id'),
    dbrps: readDbrps(document['dbrps']),
    script: optionalText(document, 'script'),
    status: optionalChoice(document, 'status', ['enabled', 'disabled']),
    vars:
      document['vars'] === undefined || document['vars'] === null
        ? undefined
        : readVars(document['vars']),
    split: readSplit(document['split']),
    restart: optionalFlag(document, 'restart'),
  };
}

function readTemplateInput(body: Uint8Array): TemplateInput {
  const document = readBody(body);
  return {
    id: optionalText(document, 'id'),
    type: optionalChoice(document, 'type', ['stream', 'batch']),
    script: optionalText(document, 'script'),
  };
}

function readBody(body: Uint8Array): Document {
  return asObject(parseJson(body, 'invalid JSON: '), 'invalid JSON: expected an object');
}

function readDbrps(value: unknown): readonly Dbrp[] | undefined {
  if (value === undefined || value === null) return undefined;
  const expected = 'a list of objects {"db": "telegraf", "rp": "autogen"}';
  if (!Array.isArray(value)) return refuseMember('dbrps', expected, value);
  return value.map((item: unknown) => {
    const pair = asObject(item, `dbrps must be ${expected}`);
    return { db: optionalText(pair, 'db') ?? '', rp: optionalText(pair, 'rp') ?? '' };
  });
}
