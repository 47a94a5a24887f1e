// Every endpoint with its methods and the right it needs. What serves it (`http-interface.ts`), the
// routes, the authorization test and the API document are made from this table.
import type { Identity } from '../auth/identity.ts';
import type { Exchange } from './exchange.ts';

/**
 * `ping`: none, or any user with `http.ping-auth-enabled`. `debug`: none, or an admin with
 * `http.pprof-auth-enabled`.
 * `write`, `read`: that right on the database of the request, checked by the handler, which knows
 * it. `statements`: what the statements need (statements/registry.ts). `user`: any user. `admin`:
 * an admin.
 */
export type EndpointRight = 'ping' | 'debug' | 'write' | 'read' | 'statements' | 'user' | 'admin';

export type Endpoint = {
  readonly path: string;
  readonly methods: readonly string[];
  readonly right: EndpointRight;
  readonly summary: string;
  /** An alias for clients of older servers; `http.compat-routes` switches it off. */
  readonly isCompat: boolean;
};

/**
 * An endpoint and what serves it: who asks is known, and has the right that is not the handler's to
 * look at.
 */
export type ServedEndpoint = Endpoint & { readonly handle: Handle };
export type Handle = (exchange: Exchange, identity: Identity) => Promise<void>;

const GET = ['GET', 'HEAD'];

/** The API document, which is made from the routes and therefore served beside them. */
export const OPENAPI_ENDPOINT: Endpoint = {
  path: '/openapi.json',
  methods: GET,
  right: 'ping',
  summary: 'This interface as an OpenAPI document',
  isCompat: false,
};

const ROWS = [
  {
    path: '/write',
    methods: ['POST'],
    right: 'write',
    summary: 'Write points in line protocol',
    isCompat: false,
  },
  {
    path: '/query',
    methods: ['GET', 'POST'],
    right: 'statements',
    summary: 'Run statements of the query language',
    isCompat: false,
  },
  {
    path: '/ping',
    methods: GET,
    right: 'ping',
    summary: 'Is the service up, and which version is it',
    isCompat: false,
  },
  {
    path: '/health',
    methods: GET,
    right: 'ping',
    summary: 'Is the service ready',
    isCompat: false,
  },
  {
    path: '/metrics',
    methods: GET,
    right: 'ping',
    summary: 'Counters for Prometheus',
    isCompat: false,
  },
  {
    path: '/api/tokens',
    methods: ['GET', 'POST', 'DELETE'],
    right: 'admin',
    summary: 'Make, list and revoke API tokens',
    isCompat: false,
  },
  {
    path: '/api/identity',
    methods: ['POST'],
    right: 'admin',
    summary: 'Tell whom credentials belong to that another service was given',
    isCompat: false,
  },
  {
    path: '/api/continuous-queries/run',
    methods: ['POST'],
    right: 'admin',
    summary: 'Run a continuous query over a past range',
    isCompat: false,
  },
  {
    path: '/api/backup',
    methods: ['POST'],
    right: 'admin',
    summary: 'Back up everything or some databases',
    isCompat: false,
  },
  {
    path: '/api/restore',
    methods: ['POST', 'PUT', 'DELETE'],
    right: 'admin',
    summary: 'Add databases of a backup',
    isCompat: false,
  },
  {
    path: '/debug/requests',
    methods: GET,
    right: 'admin',
    summary: 'Count requests by user and address for some seconds',
    isCompat: false,
  },
  {
    path: '/debug/vars',
    methods: GET,
    right: 'debug',
    summary: 'Counters as JSON',
    isCompat: false,
  },
  {
    path: '/debug/rejected',
    methods: GET,
    right: 'admin',
    summary: 'The last refused lines and their number by source',
    isCompat: false,
  },
  {
    path: '/debug/loglevel',
    methods: ['POST'],
    right: 'admin',
    summary: 'Change how much is logged',
    isCompat: false,
  },
  {
    path: '/debug/pprof',
    methods: GET,
    right: 'admin',
    summary: 'Profiles that can be taken',
    isCompat: false,
  },
  {
    path: '/debug/pprof/profile',
    methods: ['GET'],
    right: 'admin',
    summary: 'CPU profile of some seconds',
    isCompat: false,
  },
  {
    path: '/debug/pprof/heap',
    methods: GET,
    right: 'admin',
    summary: 'Heap snapshot',
    isCompat: false,
  },
  {
    path: '/status',
    methods: GET,
    right: 'ping',
    summary: 'Older form of /ping',
    isCompat: true,
  },
  {
    path: '/api/v2/write',
    methods: ['POST'],
    right: 'write',
    summary: 'Write points into bucket database/policy',
    isCompat: true,
  },
  {
    path: '/api/v1/prom/write',
    methods: ['POST'],
    right: 'write',
    summary: 'Remote write of Prometheus',
    isCompat: false,
  },
  {
    path: '/api/v1/prom/read',
    methods: ['POST'],
    right: 'read',
    summary: 'Remote read of Prometheus',
    isCompat: false,
  },
  {
    path: '/api/v2/query',
    methods: ['POST'],
    right: 'user',
    summary: 'Not supported: says which language is',
    isCompat: true,
  },
] as const satisfies readonly Endpoint[];

export type EndpointPath = (typeof ROWS)[number]['path'];

export const ENDPOINTS: readonly (Endpoint & { readonly path: EndpointPath })[] = ROWS;
