// Schemas of the bodies in the API description: the resources, and which endpoint accepts and
// returns which.
type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer' };
const time: Schema = { type: 'string', format: 'date-time' };
const share: Schema = { type: 'number', minimum: 0, maximum: 1 };
const anything: Schema = { type: 'object', additionalProperties: true };
const taskType: Schema = { enum: ['stream', 'batch'] };
const jobStatus: Schema = { enum: ['running', 'failed', 'finished'] };
const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const list = (items: Schema): Schema => ({ type: 'array', items });
const object = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  properties,
});

const varTypes = [
  'bool',
  'int',
  'float',
  'duration',
  'string',
  'secret',
  'regex',
  'lambda',
  'star',
  'list',
];
const settableTask = {
  id: text,
  'template-id': text,
  type: taskType,
  dbrps: list(object({ db: text, rp: text })),
  script: text,
  status: { enum: ['enabled', 'disabled'] },
  vars: { type: 'object', additionalProperties: reference('Var') },
  split: count,
};
const settableTemplate = { id: text, type: taskType, script: text };
const settableHandler = {
  id: text,
  actions: list(object({ kind: text, options: anything })),
  kind: text,
  options: anything,
  match: text,
};
const alertLevel: Schema = { enum: ['OK', 'INFO', 'WARNING', 'CRITICAL'] };
const replayStart = {
  id: text,
  task: text,
  'recording-time': flag,
  clock: { enum: ['fast', 'real'] },
};
const trySource = object({
  recording: text,
  start: time,
  stop: time,
  points: text,
  precision: text,
});
const documentVersion = { version: count, title: text, modified: time, by: text };
const times = { created: time, modified: time };

/** Resources by name, for `components.schemas`. */
export const RESOURCE_SCHEMAS: Readonly<Record<string, Schema>> = {
  Link: object({ rel: text, href: text }),
  Var: object({ type: { enum: varTypes }, value: {}, description: text }),
  TaskInput: object(settableTask),
  TaskChange: object({ ...settableTask, restart: flag }),
  Task: object({
    ...settableTask,
    link: reference('Link'),
    dot: text,
    executing: flag,
    'needs-restart': flag,
    error: text,
    stats: anything,
    ...times,
    'last-enabled': time,
    diagnostics: list(reference('Diagnostic')),
    warnings: list(reference('Diagnostic')),
  }),
  TaskVersions: object({
    link: reference('Link'),
    id: text,
    versions: list(
      object({
        number: count,
        time,
        user: text,
        'template-id': text,
        type: taskType,
        dbrps: settableTask.dbrps,
        script: text,
        vars: settableTask.vars,
        split: count,
      }),
    ),
  }),
  Diagnostic: object({
    code: text,
    message: text,
    position: count,
    length: count,
    line: count,
    column: count,
    found: text,
    expected: list(text),
    hint: text,
  }),
  TemplateInput: object(settableTemplate),
  Template: object({
    ...settableTemplate,
    link: reference('Link'),
    vars: settableTask.vars,
    dot: text,
    error: text,
    ...times,
  }),
  Recording: object({
    id: text,
    link: reference('Link'),
    type: taskType,
    size: count,
    date: time,
    error: text,
    status: jobStatus,
    progress: share,
  }),
  ReplayInput: object({ ...replayStart, recording: text }),
  Replay: object({
    id: text,
    link: reference('Link'),
    task: text,
    recording: text,
    clock: { enum: ['fast', 'real'] },
    'recording-time': flag,
    status: jobStatus,
    progress: share,
    error: text,
  }),
  StreamRecordingInput: object({ id: text, task: text, stop: time, duration: text }),
  BatchRecordingInput: object({ id: text, task: text, start: time, stop: time }),
  QueryRecordingInput: object({ id: text, type: taskType, query: text, cluster: text }),
  BatchReplayInput: object({ ...replayStart, start: time, stop: time }),
  QueryReplayInput: object({ ...replayStart, query: text, cluster: text }),
  TryOutInput: object({ task: reference('TaskInput'), source: trySource, 'goes-on': text }),
  TryOutTestInput: object({
    task: reference('TaskInput'),
    source: trySource,
    'goes-on': text,
    name: text,
    expects: list(text),
  }),
  Topic: object({
    id: text,
    link: reference('Link'),
    level: alertLevel,
    collected: count,
    'events-link': reference('Link'),
    'handlers-link': reference('Link'),
  }),
  EventState: object({
    level: alertLevel,
    message: text,
    details: text,
    time,
    duration: text,
  }),
  Event: object({ id: text, link: reference('Link'), state: reference('EventState') }),
  ConfigElement: object({
    link: reference('Link'),
    options: anything,
    redacted: list(text),
    element: text,
    isAdded: flag,
    overridden: list(text),
  }),
  ConfigSection: object({
    link: reference('Link'),
    elements: list(reference('ConfigElement')),
    description: object({ doc: text, elementKey: text, options: anything }),
  }),
  Config: object({
    link: reference('Link'),
    sections: { type: 'object', additionalProperties: reference('ConfigSection') },
  }),
  ServiceTest: object({ link: reference('Link'), name: text, options: anything }),
  ServiceTestResult: object({ success: flag, message: text }),
  ServiceTests: object({ link: reference('Link'), services: list(reference('ServiceTest')) }),
  RestoreState: object({
    state: { enum: ['none', 'restarting', 'done', 'failed'] },
    time,
    error: text,
  }),
  RestoreBegun: object({ id: text, state: { enum: ['restarting'] }, entries: anything }),
  StorageAction: object({ action: { enum: ['rebuild'] } }),
  HandlerInput: object(settableHandler),
  Handler: object({
    ...settableHandler,
    link: reference('Link'),
    warnings: list(object({ message: text, hint: text })),
  }),
  AlertHistory: object({
    link: reference('Link'),
    total: count,
    changes: list(
      object({
        topic: text,
        id: text,
        level: alertLevel,
        previous: alertLevel,
        time,
        duration: text,
        task: text,
        measurement: text,
        group: { type: 'object', additionalProperties: text },
      }),
    ),
  }),
  AlertGroups: object({
    link: reference('Link'),
    total: count,
    groups: list(
      object({
        group: text,
        tags: { type: 'object', additionalProperties: text },
        level: alertLevel,
        since: time,
        'last-event': time,
        event: text,
        message: text,
        flapping: flag,
      }),
    ),
  }),
  HandlerTestInput: object({
    handler: reference('HandlerInput'),
    event: object({
      id: text,
      level: alertLevel,
      message: text,
      details: text,
      time,
      tags: anything,
    }),
  }),
  HandlerTestResult: object({
    results: list(object({ kind: text, success: flag, message: text })),
  }),
  DeadLetter: object({
    id: text,
    topic: text,
    handler: text,
    event: text,
    level: alertLevel,
    message: text,
    reason: text,
    time,
  }),
  DeadLetters: object({
    link: reference('Link'),
    total: count,
    'dead-letters': list(reference('DeadLetter')),
  }),
  DeadLetterAction: object({
    action: { enum: ['retry', 'drop'] },
    ids: list(text),
    topic: text,
    handler: text,
    all: flag,
  }),
  DeadLetterResult: object({ action: { enum: ['retry', 'drop'] }, count, left: count }),
  DocumentInput: object({ title: text, content: {} }),
  Document: object({ ...documentVersion, kind: text, id: text }),
  Documents: object({
    ...documentVersion,
    kind: text,
    id: text,
    content: {},
    versions: list(object(documentVersion)),
    documents: list(reference('Document')),
  }),
  Health: object({
    name: text,
    status: { enum: ['pass', 'warn', 'fail'] },
    message: text,
    version: text,
    checks: list(object({ name: text, status: { enum: ['pass', 'warn', 'fail'] }, message: text })),
  }),
  ConfigChange: object({ set: anything, delete: list(text), add: anything, remove: list(text) }),
};

const NAMES: Readonly<Record<string, string>> = {
  tasks: 'Task',
  templates: 'Template',
  recordings: 'Recording',
  replays: 'Replay',
  topics: 'Topic',
  events: 'Event',
  handlers: 'Handler',
};

/**
 * Endpoints whose bodies do not follow from a collection: request and response, by method and path.
 */
const ACTIONS: readonly {
  readonly pattern: RegExp;
  readonly sent?: string;
  readonly answered?: string;
}[] = [
  { pattern: /^POST .*\/recordings\/stream$/, sent: 'StreamRecordingInput', answered: 'Recording' },
  { pattern: /^POST .*\/recordings\/batch$/, sent: 'BatchRecordingInput', answered: 'Recording' },
  { pattern: /^POST .*\/recordings\/query$/, sent: 'QueryRecordingInput', answered: 'Recording' },
  { pattern: /^POST .*\/replays\/batch$/, sent: 'BatchReplayInput', answered: 'Replay' },
  { pattern: /^POST .*\/replays\/query$/, sent: 'QueryReplayInput', answered: 'Replay' },
  { pattern: /^GET .*\/task-versions\/\{id\}$/, answered: 'TaskVersions' },
  { pattern: /^POST .*\/try-outs$/, sent: 'TryOutInput' },
  { pattern: /^POST .*\/try-outs\/task-test$/, sent: 'TryOutTestInput' },
  { pattern: /^GET .*\/config$/, answered: 'Config' },
  { pattern: /^GET .*\/config\/\{section\}$/, answered: 'ConfigSection' },
  { pattern: /^GET .*\/config\/\{section\}\/\{rest\}$/, answered: 'ConfigElement' },
  { pattern: /^POST .*\/config\/\{section\}/, sent: 'ConfigChange', answered: 'ConfigSection' },
  { pattern: /^GET .*\/topics\/\{topic\}\/events\/\{rest\}$/, answered: 'Event' },
  { pattern: /^GET .*\/alerts\/history$/, answered: 'AlertHistory' },
  { pattern: /^GET .*\/alerts\/groups\/\{id\}\/\{node\}$/, answered: 'AlertGroups' },
  {
    pattern: /^POST .*\/handler-tests$/,
    sent: 'HandlerTestInput',
    answered: 'HandlerTestResult',
  },
  { pattern: /^GET .*\/dead-letters$/, answered: 'DeadLetters' },
  { pattern: /^POST .*\/dead-letters$/, sent: 'DeadLetterAction', answered: 'DeadLetterResult' },
  { pattern: /^GET .*\/documents$/, answered: 'Documents' },
  { pattern: /^PUT .*\/documents$/, sent: 'DocumentInput', answered: 'Document' },
  { pattern: /^DELETE .*\/documents$/ },
  { pattern: /^GET \/health(?:\/live)?$/, answered: 'Health' },
  { pattern: /^GET .*\/service-tests$/, answered: 'ServiceTests' },
  { pattern: /^GET .*\/service-tests\/\{service\}$/, answered: 'ServiceTest' },
  { pattern: /^POST .*\/service-tests\/\{service\}$/, answered: 'ServiceTestResult' },
  { pattern: /^POST .*\/storage\/stores\/\{store\}$/, sent: 'StorageAction' },
  { pattern: /^GET .*\/storage\/restore$/, answered: 'RestoreState' },
  { pattern: /^POST .*\/storage\/restore$/, answered: 'RestoreBegun' },
  { pattern: /^(PUT|DELETE) .*\/storage\/restore$/ },
];

function actionOf(method: string, path: string): (typeof ACTIONS)[number] | undefined {
  return ACTIONS.find(({ pattern }) => pattern.test(`${method} ${path}`));
}

/** Schema of the request to a path (with `{parameters}`), if it is known. */
export function requestSchema(method: string, path: string): Schema | undefined {
  const action = actionOf(method, path);
  if (action !== undefined) return action.sent === undefined ? undefined : reference(action.sent);
  const { collection, isElement } = resourceOf(path);
  if (method === 'POST' ? isElement : method !== 'PATCH' && method !== 'PUT') return undefined;
  const change = `${NAMES[collection]}Change`;
  if (method === 'PATCH' && change in RESOURCE_SCHEMAS) return reference(change);
  const input = `${NAMES[collection]}Input`;
  return input in RESOURCE_SCHEMAS ? reference(input) : undefined;
}

/** Schema of the response of a path, if it is known. */
export function responseSchema(method: string, path: string): Schema | undefined {
  const action = actionOf(method, path);
  if (action !== undefined) {
    return action.answered === undefined ? undefined : reference(action.answered);
  }
  const { collection, isElement } = resourceOf(path);
  const name = NAMES[collection];
  if (name === undefined || method === 'DELETE' || method === 'HEAD') return undefined;
  if (isElement || method !== 'GET') return reference(name);
  return object({ [collection]: list(reference(name)) });
}

/** The collection that a path names, or an element of it. */
function resourceOf(path: string): { readonly collection: string; readonly isElement: boolean } {
  const segments = path.split('/').filter((segment) => segment !== '');
  const last = segments.at(-1) ?? '';
  const isElement = /^\{.*\}$/.test(last) && last !== '{rest}';
  return { collection: (isElement ? segments.at(-2) : last) ?? '', isElement };
}
