// Every endpoint with its methods and the right it needs. The handlers (`http-interface.ts`), the
// routes, the authorization test and the API document are generated from this table.
import type { Handler } from './parts.ts';

/**
 * `open`: none. `ping`: none, or any user with `http.ping-auth-enabled`. `debug`: none, or an admin
 * with `http.pprof-auth-enabled`. `write`, `read`: that right on the database of the request,
 * checked by the handler, which knows it. `statements`: what the statements need
 * (statements/registry.ts). `user`: any user. `grant`: any user with a grant on a database; the
 * handler checks changes. `admin`: an admin.
 */
export type EndpointRight =
  | 'open'
  | 'ping'
  | 'debug'
  | 'write'
  | 'read'
  | 'statements'
  | 'user'
  | 'grant'
  | 'admin';

export type Endpoint = {
  readonly path: string;
  readonly methods: readonly string[];
  readonly right: EndpointRight;
  readonly summary: string;
  /** An alias for clients of older servers; `http.compat-routes` switches it off. */
  readonly isCompat: boolean;
};

/** An endpoint and its handler. */
export type ServedEndpoint = Endpoint & { readonly handle: Handler };

const GET = ['GET', 'HEAD'];
const POST = ['POST'];

/** The API document, which is made from the routes and therefore served beside them. */
export const OPENAPI_ENDPOINT: Endpoint = {
  path: '/openapi.json',
  methods: GET,
  right: 'ping',
  summary: 'This interface as an OpenAPI document',
  isCompat: false,
};

export const ENDPOINTS = [
  ...endpoints({ isCompat: false }, [
    ['/write', POST, 'write', 'Write points in line protocol'],
    ['/query', ['GET', 'POST'], 'statements', 'Run statements of the query language'],
    ['/ping', GET, 'ping', 'Is the service ready, and which version is it'],
    ['/health', GET, 'ping', 'Is the service ready, and is anything damaged'],
    ['/health/live', GET, 'open', 'Does the process work'],
    ['/metrics', GET, 'ping', 'Counters for Prometheus'],
    ['/api/tokens', ['GET', 'POST', 'DELETE'], 'admin', 'Make, list and revoke API tokens'],
    [
      '/api/identity',
      POST,
      'admin',
      'Identify the user of credentials that another service received',
    ],
    ['/api/me', GET, 'user', 'Identify the user of the request, with the rights to read and write'],
    [
      '/api/documents',
      ['GET', 'HEAD', 'PUT', 'DELETE'],
      'grant',
      'Read, store and remove documents of the web application',
    ],
    ['/api/continuous-queries/run', POST, 'admin', 'Run a continuous query over a past range'],
    ['/api/backup', POST, 'admin', 'Back up everything or some databases'],
    ['/api/restore', ['POST', 'PUT', 'DELETE'], 'admin', 'Add databases of a backup'],
    ['/api/audit', GET, 'admin', 'Changes and refusals, with their users'],
    ['/debug/requests', GET, 'admin', 'Count requests by user and address for some seconds'],
    ['/debug/vars', GET, 'debug', 'Counters as JSON'],
    ['/debug/rejected', GET, 'admin', 'The last refused lines and their number by source'],
    ['/debug/replicas', GET, 'admin', 'The servers of a cluster that hold the points'],
    ['/debug/slow-queries', GET, 'admin', 'The last queries that took long'],
    ['/debug/loglevel', POST, 'admin', 'Change how much is logged'],
    ['/debug/pprof', GET, 'admin', 'Profiles that can be taken'],
    ['/debug/pprof/profile', ['GET'], 'admin', 'CPU profile of some seconds'],
    ['/debug/pprof/heap', GET, 'admin', 'Heap snapshot'],
    ['/api/v1/prom/write', POST, 'write', 'Remote write of Prometheus'],
    ['/api/v1/prom/read', POST, 'read', 'Remote read of Prometheus'],
  ]),
  ...endpoints({ isCompat: true }, [
    ['/status', GET, 'ping', 'Older form of /ping'],
    ['/api/v2/write', POST, 'write', 'Write points into bucket database/policy'],
    ['/api/v2/query', POST, 'user', 'Not supported: names the supported language'],
  ]),
];

export type EndpointPath = (typeof ENDPOINTS)[number]['path'];

type Row<P> = readonly [path: P, methods: readonly string[], right: EndpointRight, summary: string];

function endpoints<P extends string>(
  { isCompat }: Pick<Endpoint, 'isCompat'>,
  rows: readonly Row<P>[],
): readonly (Endpoint & { readonly path: P })[] {
  return rows.map(([path, methods, right, summary]) => ({
    path,
    methods,
    right,
    summary,
    isCompat,
  }));
}
