// Schemas of the bodies that the API's document names: the resources, and which endpoint takes and answers which.
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

const varTypes = ['bool', 'int', 'float', 'duration', 'string', 'regex', 'lambda', 'star', 'list'];
const settableTask = {
  id: text,
  'template-id': text,
  type: taskType,
  dbrps: list(object({ db: text, rp: text })),
  script: text,
  status: { enum: ['enabled', 'disabled'] },
  vars: { type: 'object', additionalProperties: reference('Var') },
};
const settableTemplate = { id: text, type: taskType, script: text };
const settableHandler = {
  id: text,
  actions: list(object({ kind: text, options: anything })),
  kind: text,
  options: anything,
  match: text,
};
const times = { created: time, modified: time };

/** Resources by name, for `components.schemas`. */
export const RESOURCE_SCHEMAS: Readonly<Record<string, Schema>> = {
  Link: object({ rel: text, href: text }),
  Var: object({ type: { enum: varTypes }, value: {}, description: text }),
  TaskInput: object(settableTask),
  Task: object({
    ...settableTask,
    link: reference('Link'),
    dot: text,
    executing: flag,
    error: text,
    stats: anything,
    ...times,
    'last-enabled': time,
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
  ReplayInput: object({
    id: text,
    task: text,
    recording: text,
    'recording-time': flag,
    clock: { enum: ['fast', 'real'] },
  }),
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
  HandlerInput: object(settableHandler),
  Handler: object({ ...settableHandler, link: reference('Link') }),
  ConfigChange: object({ set: anything, delete: list(text), add: anything, remove: list(text) }),
};

const NAMES: Readonly<Record<string, string>> = {
  tasks: 'Task',
  templates: 'Template',
  recordings: 'Recording',
  replays: 'Replay',
  handlers: 'Handler',
};

/** Schema of what is sent to a path (with `{parameters}`), where it is known. */
export function requestSchema(method: string, path: string): Schema | undefined {
  const { collection, isElement } = resourceOf(path);
  if (/\/config\/[^/]+/.test(path) && method === 'POST') return reference('ConfigChange');
  if (method === 'POST' ? isElement : method !== 'PATCH' && method !== 'PUT') return undefined;
  const input = `${NAMES[collection]}Input`;
  return input in RESOURCE_SCHEMAS ? reference(input) : undefined;
}

/** Schema of what a path answers, where it is known. */
export function responseSchema(method: string, path: string): Schema | undefined {
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
