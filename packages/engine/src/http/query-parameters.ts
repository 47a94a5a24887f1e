// Query parameters of all endpoints: one table for the description of the API and for warnings
// about unknown parameters.
import { closestName } from '@tidemark/pipeline';
import { LIST_LIMIT_DEFAULT } from '../limits.ts';
import type { QueryParams } from '../formats/params.ts';
import { BASE, PREVIEW } from './routes.ts';

/** A parameter in the query of a request. */
export type QueryParameter = {
  readonly name: string;
  readonly description: string;
  readonly type: 'string' | 'boolean' | 'integer' | 'array';
  readonly default?: boolean | number | string;
  /** For a parameter that may be repeated. */
  readonly items?: { readonly type: 'string' };
  /** Methods that accept it; by default only those that read. */
  readonly methods?: readonly string[];
};

const READING = ['GET', 'HEAD'];
const ALL = [...READING, 'PUT', 'DELETE'];

const PATTERN: QueryParameter = {
  name: 'pattern',
  type: 'string',
  default: '*',
  description: 'Shell glob that ids match.',
};
const PAGE: readonly QueryParameter[] = [
  { name: 'offset', type: 'integer', default: 0, description: 'How many to leave out.' },
  {
    name: 'limit',
    type: 'integer',
    default: LIST_LIMIT_DEFAULT,
    description: 'How many to show; a negative number is all.',
  },
];
const LIST: readonly QueryParameter[] = [
  PATTERN,
  {
    name: 'fields',
    type: 'array',
    items: { type: 'string' },
    description: 'Fields to show besides those that name an item; all when none is given.',
  },
  ...PAGE,
];
const MIN_LEVEL: QueryParameter = {
  name: 'min-level',
  type: 'string',
  default: 'OK',
  description: 'Lowest level to show: OK, INFO, WARNING or CRITICAL.',
};
const EVENT_ORDER: QueryParameter = {
  name: 'order',
  type: 'string',
  default: 'id',
  description:
    'By `id`, or by `level`: the most severe first, of one level the newest first, with `total` and `levels`, the numbers of all.',
};
const HANDLER_WARNINGS: QueryParameter = {
  name: 'diagnostics',
  type: 'boolean',
  default: false,
  description:
    'Whether the response contains `warnings`: reasons why it cannot deliver anything now.',
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
/** For new definitions. */
const DIAGNOSTICS_OF_NEW: QueryParameter = { ...DIAGNOSTICS, methods: ['POST'] };
const DIAGNOSTICS_OF_CHANGED: QueryParameter = { ...DIAGNOSTICS, methods: ['PATCH'] };

const DESCRIBED: QueryParameter = {
  name: 'describe',
  type: 'boolean',
  default: false,
  description:
    'Whether sections carry a `description` of their options, and elements what of them was set by clients (`overridden`, `isAdded`).',
};

const SCRIPT_FORMAT: QueryParameter = {
  name: 'script-format',
  type: 'string',
  default: 'formatted',
  description: '`formatted`, or `raw`: the script as it was defined.',
};
const REPLAY: QueryParameter = {
  name: 'replay-id',
  type: 'string',
  description: 'Shows the task inside this replay instead of the task itself.',
};
const DOT_VIEW: QueryParameter = {
  name: 'dot-view',
  type: 'string',
  default: 'attributes',
  description: 'How the graph shows counters: as `attributes` or as `labels`.',
};

/** By pattern of the route. */
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
      description: 'Number of entries, newest first; 1000 at most.',
    },
  ],
  [`${BASE}/tasks`]: [
    ...LIST,
    SCRIPT_FORMAT,
    DOT_VIEW,
    { ...DIAGNOSTICS, methods: ['GET', 'HEAD', 'POST'] },
  ],
  [`${BASE}/tasks/:id`]: [SCRIPT_FORMAT, DOT_VIEW, REPLAY, DIAGNOSTICS],
  [`${BASE}/tasks/:id/*`]: [REPLAY],
  [`${BASE}/templates`]: [...LIST, SCRIPT_FORMAT, DIAGNOSTICS_OF_NEW],
  [`${BASE}/recordings`]: LIST,
  [`${BASE}/replays`]: LIST,
  [`${BASE}/recordings/`]: LIST,
  [`${BASE}/replays/`]: LIST,
  [`${BASE}/debug/pprof/profile`]: [
    { name: 'seconds', type: 'integer', default: 30, description: 'How long to measure.' },
  ],
  [`${BASE}/service-tests`]: LIST,
  [`${PREVIEW}/alerts/topics`]: [...LIST, MIN_LEVEL],
  [`${PREVIEW}/alerts/topics/:topic/events`]: [...LIST, MIN_LEVEL, EVENT_ORDER],
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
        'Id of the restore begun by a POST without it: PUT sends a piece of the backup, POST finishes and restarts the engine on it, DELETE cancels.',
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
    ...PAGE,
    { name: 'topic', type: 'string', description: 'Only those of this topic.' },
  ],
  [`${PREVIEW}/alerts/groups/:id/:node`]: [
    { ...PATTERN, description: 'Shell glob that ids of groups match.' },
    ...PAGE,
  ],
  [`${BASE}/templates/:id`]: [SCRIPT_FORMAT, DIAGNOSTICS_OF_CHANGED],
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
        'Whether the stream also contains the reasons why conditions of the node passed or held back a point (`why`).',
    },
  ],
};

export function queryParametersOf(method: string, pattern: string): readonly QueryParameter[] {
  const found = QUERY_PARAMETERS[pattern] ?? [];
  return found.filter(({ methods = READING }) => methods.includes(method));
}

/**
 * Credentials, which every request may have, and parameters that clients of InfluxDB and Kapacitor
 * add.
 */
const EVERYWHERE = ['u', 'p', 'pretty'];
/** Parameters of writes to a database, accepted and ignored. */
const OF_WRITES = ['consistency'];
/** Any name is a filter there. */
const FREE = `${PREVIEW}/logs`;

/** The warning about parameters without a meaning; `undefined` when there are none. */
export function unknownParameters(
  method: string,
  pattern: string,
  query: QueryParams,
): string | undefined {
  if (pattern === FREE) return undefined;
  const own = queryParametersOf(method, pattern).map(({ name }) => name);
  const known = new Set([...own, ...EVERYWHERE, ...(pattern.endsWith('/write') ? OF_WRITES : [])]);
  const sentences: string[] = [];
  for (const [name] of query.entries()) {
    if (known.has(name)) continue;
    const close = closestName(name, own);
    const hint = close === undefined ? '' : `; did you mean ${close}?`;
    sentences.push(`unknown query parameter ${JSON.stringify(name.slice(0, SHOWN_CHARS))}${hint}`);
  }
  return sentences.length === 0 ? undefined : sentences.slice(0, WARNINGS_MAX).join(', ');
}

const SHOWN_CHARS = 60;
const WARNINGS_MAX = 5;
