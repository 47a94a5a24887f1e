// Every endpoint with its methods, the right it needs, and what serves it. The routes, the
// authorization test and the API document are made from this table.
import type { Identity } from '../auth/identity.ts';
import { handleBackup, handleRestore } from './backup-routes.ts';
import { handleContinuousRun } from './continuous-run-route.ts';
import type { Exchange } from './exchange.ts';
import { handleCpuProfile, handleHeapSnapshot, handleProfileIndex } from './profile-routes.ts';
import { handleQuery } from './query-route.ts';
import type { HttpServices } from './services.ts';
import {
  handleDebugRejected,
  handleDebugRequests,
  handleDebugVars,
  handleHealth,
  handleMetrics,
  handlePing,
  handleStatus,
} from './status-routes.ts';
import { handleIdentity } from './identity-route.ts';
import { handleLogLevel } from './log-level-route.ts';
import { handleTokens } from './token-routes.ts';
import { handleWrite, handleWriteV2 } from './write-route.ts';
import { handleFluxQuery } from './compat-routes.ts';
import { handlePrometheusRead, handlePrometheusWrite } from './prometheus-routes.ts';

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
  /** The identity is that of the client; where nobody has to be anybody, `open`. */
  readonly handle: (
    exchange: Exchange,
    services: HttpServices,
    identity: Identity,
  ) => Promise<void>;
};

const GET = ['GET', 'HEAD'];

/** The API document, which is made from the routes and therefore served beside them. */
export const OPENAPI_ENDPOINT: Omit<Endpoint, 'handle'> = {
  path: '/openapi.json',
  methods: GET,
  right: 'ping',
  summary: 'This interface as an OpenAPI document',
  isCompat: false,
};

export const ENDPOINTS: readonly Endpoint[] = [
  {
    path: '/write',
    methods: ['POST'],
    right: 'write',
    summary: 'Write points in line protocol',
    isCompat: false,
    handle: handleWrite,
  },
  {
    path: '/query',
    methods: ['GET', 'POST'],
    right: 'statements',
    summary: 'Run statements of the query language',
    isCompat: false,
    handle: handleQuery,
  },
  {
    path: '/ping',
    methods: GET,
    right: 'ping',
    summary: 'Is the service up, and which version is it',
    isCompat: false,
    handle: handlePing,
  },
  {
    path: '/health',
    methods: GET,
    right: 'ping',
    summary: 'Is the service ready',
    isCompat: false,
    handle: handleHealth,
  },
  {
    path: '/metrics',
    methods: GET,
    right: 'ping',
    summary: 'Counters for Prometheus',
    isCompat: false,
    handle: handleMetrics,
  },
  {
    path: '/api/tokens',
    methods: ['GET', 'POST', 'DELETE'],
    right: 'admin',
    summary: 'Make, list and revoke API tokens',
    isCompat: false,
    handle: handleTokens,
  },
  {
    path: '/api/identity',
    methods: ['POST'],
    right: 'admin',
    summary: 'Tell whom credentials belong to that another service was given',
    isCompat: false,
    handle: handleIdentity,
  },
  {
    path: '/api/continuous-queries/run',
    methods: ['POST'],
    right: 'admin',
    summary: 'Run a continuous query over a past range',
    isCompat: false,
    handle: handleContinuousRun,
  },
  {
    path: '/api/backup',
    methods: ['POST'],
    right: 'admin',
    summary: 'Back up everything or some databases',
    isCompat: false,
    handle: handleBackup,
  },
  {
    path: '/api/restore',
    methods: ['POST', 'PUT', 'DELETE'],
    right: 'admin',
    summary: 'Add databases of a backup',
    isCompat: false,
    handle: handleRestore,
  },
  {
    path: '/debug/requests',
    methods: GET,
    right: 'admin',
    summary: 'Count requests by user and address for some seconds',
    isCompat: false,
    handle: handleDebugRequests,
  },
  {
    path: '/debug/vars',
    methods: GET,
    right: 'debug',
    summary: 'Counters as JSON',
    isCompat: false,
    handle: handleDebugVars,
  },
  {
    path: '/debug/rejected',
    methods: GET,
    right: 'admin',
    summary: 'The last refused lines and their number by source',
    isCompat: false,
    handle: handleDebugRejected,
  },
  {
    path: '/debug/loglevel',
    methods: ['POST'],
    right: 'admin',
    summary: 'Change how much is logged',
    isCompat: false,
    handle: handleLogLevel,
  },
  {
    path: '/debug/pprof',
    methods: GET,
    right: 'admin',
    summary: 'Profiles that can be taken',
    isCompat: false,
    handle: handleProfileIndex,
  },
  {
    path: '/debug/pprof/profile',
    methods: ['GET'],
    right: 'admin',
    summary: 'CPU profile of some seconds',
    isCompat: false,
    handle: handleCpuProfile,
  },
  {
    path: '/debug/pprof/heap',
    methods: GET,
    right: 'admin',
    summary: 'Heap snapshot',
    isCompat: false,
    handle: handleHeapSnapshot,
  },
  {
    path: '/status',
    methods: GET,
    right: 'ping',
    summary: 'Older form of /ping',
    isCompat: true,
    handle: handleStatus,
  },
  {
    path: '/api/v2/write',
    methods: ['POST'],
    right: 'write',
    summary: 'Write points into bucket database/policy',
    isCompat: true,
    handle: handleWriteV2,
  },
  {
    path: '/api/v1/prom/write',
    methods: ['POST'],
    right: 'write',
    summary: 'Remote write of Prometheus',
    isCompat: false,
    handle: handlePrometheusWrite,
  },
  {
    path: '/api/v1/prom/read',
    methods: ['POST'],
    right: 'read',
    summary: 'Remote read of Prometheus',
    isCompat: false,
    handle: handlePrometheusRead,
  },
  {
    path: '/api/v2/query',
    methods: ['POST'],
    right: 'user',
    summary: 'Not supported: says which language is',
    isCompat: true,
    handle: handleFluxQuery,
  },
];
