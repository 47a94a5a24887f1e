// The API's description in OpenAPI 3.1, made from the routes that are registered, so that it cannot
// forget one.
import { TIDEMARK_VERSION } from '@tidemark/core';
import { requestSchema, RESOURCE_SCHEMAS, responseSchema } from './openapi-schemas.ts';
import { LIST_LIMIT_DEFAULT } from '../limits.ts';
import { BASE, PREVIEW } from './routes.ts';

type Operation = Readonly<Record<string, unknown>>;

type QueryParameter = {
  readonly name: string;
  readonly description: string;
  readonly type: 'string' | 'boolean' | 'integer' | 'array';
  readonly default?: boolean | number | string;
  /** Of a parameter that may be repeated. */
  readonly items?: { readonly type: 'string' };
  /** Methods that take it; only those that read where nothing is said. */
  readonly methods?: readonly string[];
};

const READING = ['GET', 'HEAD'];
const ALL = [...READING, 'PUT', 'DELETE'];

const LIST: readonly QueryParameter[] = [
  { name: 'pattern', type: 'string', default: '*', description: 'Shell glob that ids match.' },
  {
    name: 'fields',
    type: 'array',
    items: { type: 'string' },
    description: 'Fields to show besides those that name an item; all when none is given.',
  },
  { name: 'offset', type: 'integer', default: 0, description: 'How many to leave out.' },
  {
    name: 'limit',
    type: 'integer',
    default: LIST_LIMIT_DEFAULT,
    description: 'How many to show; a negative number is all.',
  },
];
const MIN_LEVEL: QueryParameter = {
  name: 'min-level',
  type: 'string',
  default: 'OK',
  description: 'Lowest level to show: OK, INFO, WARNING or CRITICAL.',
};
const HANDLER_WARNINGS: QueryParameter = {
  name: 'diagnostics',
  type: 'boolean',
  default: false,
  description: 'Whether the answer carries `warnings`: what keeps it from delivering anything now.',
  methods: ['POST'],
};
const WRITE: readonly QueryParameter[] = [
  { name: 'db', type: 'string', methods: ['POST'], description: 'Database; required.' },
  {
    name: 'rp',
    type: 'string',
    methods: ['POST'],
    description: 'Retention policy; required unless `default-retention-policy` is configured.',
  },
  {
    name: 'precision',
    type: 'string',
    default: 'ns',
    methods: ['POST'],
    description: 'Unit of the times: ns, u, ms, s, m or h.',
  },
];

const DIAGNOSTICS: QueryParameter = {
  name: 'diagnostics',
  type: 'boolean',
  default: false,
  description:
    'Whether answers carry `diagnostics`: what is wrong with the script, and what keeps the task from starting; those that show a task also `warnings`: what lets it start but fails for every point or is not reached now. Lists have `warnings` only.',
  methods: ['GET', 'HEAD', 'POST', 'PATCH'],
};
/** Of what is defined. */
const DIAGNOSTICS_OF_NEW: QueryParameter = { ...DIAGNOSTICS, methods: ['POST'] };
const DIAGNOSTICS_OF_CHANGED: QueryParameter = { ...DIAGNOSTICS, methods: ['PATCH'] };

const DESCRIBED: QueryParameter = {
  name: 'describe',
  type: 'boolean',
  default: false,
  description:
    'Whether sections carry a `description` of their options, and elements what of them was set by clients (`overridden`, `isAdded`).',
};

/** What can be said in the query of an endpoint; by pattern of the route. */
const QUERY_PARAMETERS: Readonly<Record<string, readonly QueryParameter[]>> = {
  '/write': WRITE,
  [`${BASE}/write`]: WRITE,
  [`${BASE}/audit`]: [
    { name: 'before', type: 'string', description: 'Only entries before this time (RFC 3339).' },
    { name: 'user', type: 'string', description: 'Only entries of this user.' },
    { name: 'text', type: 'string', description: 'Only entries with this text anywhere.' },
    {
      name: 'limit',
      type: 'integer',
      default: 100,
      description: 'The newest so many; 1000 at most.',
    },
  ],
  [`${BASE}/tasks`]: [...LIST, { ...DIAGNOSTICS, methods: ['GET', 'HEAD', 'POST'] }],
  [`${BASE}/tasks/:id`]: [DIAGNOSTICS],
  [`${BASE}/templates`]: [...LIST, DIAGNOSTICS_OF_NEW],
  [`${BASE}/recordings`]: LIST,
  [`${BASE}/replays`]: LIST,
  [`${BASE}/service-tests`]: LIST,
  [`${PREVIEW}/alerts/topics`]: [...LIST, MIN_LEVEL],
  [`${PREVIEW}/alerts/topics/:topic/events`]: [...LIST, MIN_LEVEL],
  [`${PREVIEW}/alerts/topics/:topic/handlers`]: [...LIST, HANDLER_WARNINGS],
  [`${PREVIEW}/alerts/topics/:topic/handlers/:handler`]: [
    { ...HANDLER_WARNINGS, methods: ['GET', 'HEAD', 'PUT', 'PATCH'] },
  ],
  [`${PREVIEW}/alerts/dead-letters`]: [
    ...LIST.filter(({ name }) => name !== 'pattern'),
    { name: 'topic', type: 'string', description: 'Only those of this topic.' },
    { name: 'handler', type: 'string', description: 'Only those of the handler with this id.' },
  ],
  [`${BASE}/config`]: [DESCRIBED],
  [`${BASE}/config/:section`]: [DESCRIBED],
  [`${BASE}/storage/restore`]: [
    {
      name: 'id',
      type: 'string',
      methods: ['POST', 'PUT', 'DELETE'],
      description:
        'Names the restore that POST without it has begun: PUT brings a piece of the backup, POST finishes and restarts the engine on it, DELETE gives up.',
    },
  ],
  [`${BASE}/documents`]: [
    {
      name: 'kind',
      type: 'string',
      methods: ALL,
      description: '`dashboards`, or `queries`, which are personal; required.',
    },
    {
      name: 'id',
      type: 'string',
      methods: ALL,
      description: 'Of one document. Without it GET answers `documents`, a list of all.',
    },
    {
      name: 'version',
      type: 'integer',
      methods: ALL,
      description:
        'GET: an older version. PUT, DELETE: the version that is changed, 0 for a new document; required.',
    },
  ],
  [`${PREVIEW}/alerts/history`]: [
    ...LIST.filter(({ name }) => name === 'offset' || name === 'limit'),
    { name: 'topic', type: 'string', description: 'Only those of this topic.' },
  ],
  [`${BASE}/templates/:id`]: [DIAGNOSTICS_OF_CHANGED],
  [`${BASE}/taps/:id/:node`]: [
    {
      name: 'replay-id',
      type: 'string',
      description: 'Watches the task inside this running replay instead of the task itself.',
    },
    {
      name: 'group',
      type: 'string',
      description: 'Only this group, by its id as the stream shows it; empty is all groups.',
    },
    {
      name: 'explain',
      type: 'boolean',
      default: true,
      description:
        'Whether the stream also tells why conditions of the node passed or held back a point (`why`).',
    },
  ],
};

/** Paths with their methods, as `RouteTable.list` gives them, as a document. */
export function openApiDocument(
  routes: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [pattern, methods] of Object.entries(routes)) {
    const { path, parameters } = templateOf(pattern);
    const item: Record<string, Operation> = (paths[path] ??= {});
    for (const method of methods) {
      const query = (QUERY_PARAMETERS[pattern] ?? []).filter(({ methods = READING }) =>
        methods.includes(method),
      );
      item[method.toLowerCase()] = operation(method, path, { path: parameters, query });
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tidemark engine',
      version: TIDEMARK_VERSION,
      description: `Stable endpoints are under ${BASE} and, too, under ${PREVIEW}.`,
    },
    paths,
    components: {
      schemas: {
        ...RESOURCE_SCHEMAS,
        Error: {
          type: 'object',
          required: ['error'],
          properties: { error: { type: 'string', description: 'What is wrong, in a sentence.' } },
        },
      },
    },
  };
}

/**
 * `/tasks/:id/*` → `/tasks/{id}/{rest}`. In patterns of the router `::` is a colon that is meant as
 * itself.
 */
function templateOf(pattern: string): {
  readonly path: string;
  readonly parameters: readonly string[];
} {
  const parameters: string[] = [];
  const path = pattern
    .split('/')
    .map((segment) => {
      if (segment.startsWith('::')) return segment.slice(1);
      if (!segment.startsWith(':') && segment !== '*') return segment;
      const name = segment === '*' ? 'rest' : segment.slice(1);
      parameters.push(name);
      return `{${name}}`;
    })
    .join('/');
  return { path, parameters };
}

function operation(
  method: string,
  path: string,
  parameters: { readonly path: readonly string[]; readonly query: readonly QueryParameter[] },
): Operation {
  return {
    operationId: `${method.toLowerCase()} ${path}`.match(/[A-Za-z0-9]+/g)?.join('_'),
    tags: [tagOf(path)],
    parameters: [
      ...parameters.path.map((name) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      ...parameters.query.map(({ name, description, ...schema }) => ({
        name,
        in: 'query',
        required: false,
        description,
        schema,
      })),
    ],
    ...(method === 'POST' || method === 'PATCH' || method === 'PUT'
      ? { requestBody: { content: { [contentType(path)]: body(requestSchema(method, path)) } } }
      : {}),
    responses: {
      '2XX': done(responseSchema(method, path)),
      default: {
        description: 'Refused or failed.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}

function body(schema: object | undefined): object {
  return schema === undefined ? {} : { schema };
}

function done(schema: object | undefined): object {
  const description = 'Done.';
  return schema === undefined
    ? { description }
    : { description, content: { 'application/json': { schema } } };
}

function contentType(path: string): string {
  return path.endsWith('/write') ? 'text/plain' : 'application/json';
}

/** The resource: the first segment below the base path. */
function tagOf(path: string): string {
  for (const base of [PREVIEW, BASE]) {
    if (path.startsWith(`${base}/`)) return path.slice(base.length + 1).split('/')[0] ?? '';
  }
  return 'service';
}
