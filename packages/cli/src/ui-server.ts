// Serves the web application and forwards its calls to both services, so that a browser needs one
// origin. Security: the services may be open on loopback, so this server must not make them
// reachable for other origins; it restricts origins like the services (docs/guide/running.md).
// Targets are fixed at the start, and only what a call of the page needs is forwarded, in both
// directions.
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

import { messageOf, TIDEMARK_VERSION } from '@tidemark/core';
import { BorderGuard, PAGE_KEY_HEADER } from '@tidemark/process';
import type { Bind } from '@tidemark/process';

import { listen, urlOf } from './listen.ts';
import { readText, sendError, sendJson } from './ui-answer.ts';
import { readPageFile, SECURITY_HEADERS } from './ui-files.ts';
import { serveImport } from './ui-import-route.ts';
import { ImportJobs } from './ui-import.ts';
import { PageSessions, sessionCookie } from './ui-session.ts';
import type { Session } from './ui-session.ts';
import { verifySignIn } from './ui-sign-in.ts';

export type UiServerOptions = {
  readonly bind: Bind;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  /** Key with which the services trust the client address sent by this server. */
  readonly pageKey: string;
  /** Whether a service behind this server requires no credentials. */
  readonly isOpen: boolean;
  /** How long a service may take until it begins to answer; default one minute. */
  readonly answerTimeoutMs?: number | undefined;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Folder of the built application. */
  readonly directory: URL;
  /** Base URLs of the services; a missing one answers 502. */
  readonly tsdbUrl?: string | undefined;
  readonly engineUrl?: string | undefined;
};

export type UiServer = { readonly url: string; close(): Promise<void> };

/** For responses of services: they are data, even if a browser opens one as a page. */
const DATA_SECURITY_HEADERS = {
  ...SECURITY_HEADERS,
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
};

/** Request headers forwarded to a service. `User-Agent` shows the service that a browser asks. */
const REQUEST_HEADERS: readonly string[] = [
  'accept',
  'accept-encoding',
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'request-id',
  'user-agent',
  'x-request-id',
];

/**
 * Response headers forwarded to the page. Not the authentication challenge: the browser would
 * prompt before the page can.
 */
const RESPONSE_HEADERS: readonly string[] = [
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-type',
  'request-id',
  'retry-after',
  'x-engine-version',
  'x-influxdb-build',
  'x-influxdb-error',
  'x-influxdb-version',
  'x-request-id',
  'x-tsdb-diagnostics',
  'x-tsdb-version',
];

const FORWARDED_METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * How long a service may take to begin a response. A response that has begun may pause: logs, taps,
 * cursors.
 */
const ANSWER_TIMEOUT_MS = 60_000;
const HEALTH_TIMEOUT_MS = 5_000;

/** Starts the server. Resolves when it listens. */
export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  const { bind, allowedHosts, allowedOrigins, trustedProxies } = options;
  const border = new BorderGuard({
    section: 'ui',
    isOpen: options.isOpen,
    boundHost: bind.host,
    allowedHosts,
    allowedOrigins,
    trustedProxies,
  });
  const sessions = new PageSessions(options.nowMs);
  const imports = new ImportJobs();
  const server = createServer((request, response) => {
    handle({ options, border, sessions, imports }, request, response).catch((error: unknown) => {
      // The error concerns this request only.
      if (!response.headersSent)
        sendError(response, 500, error instanceof Error ? error.message : 'failed');
      else response.destroy();
    });
  });
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(MALFORMED);
    else socket.destroy();
  });
  await listen(server, options.bind);
  return {
    url: urlOf(server, options.bind.host),
    close: async () => {
      await imports.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

const MALFORMED = [
  'HTTP/1.1 400 Bad Request',
  ...Object.entries(SECURITY_HEADERS).map(([name, value]) => `${name}: ${value}`),
  'Content-Length: 0',
  'Connection: close',
  '\r\n',
].join('\r\n');

type PageServer = {
  readonly options: UiServerOptions;
  readonly border: BorderGuard;
  readonly sessions: PageSessions;
  readonly imports: ImportJobs;
};

async function handle(
  { options, border, sessions, imports }: PageServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refusal = border.refusal(request);
  if (refusal !== undefined) {
    sendError(response, refusal.status, refusal.message);
    return;
  }
  for (const [name, value] of Object.entries(border.corsHeaders(request))) {
    response.setHeader(name, value);
  }
  if (request.method === 'OPTIONS') {
    response.writeHead(204, SECURITY_HEADERS).end();
    return;
  }
  // Unparsed: a parsed URL could lead elsewhere.
  const target = request.url ?? '';
  const [path = ''] = target.split('?', 1);
  const route = PAGE_ROUTES.find((each) =>
    each.path.endsWith('/*') ? path.startsWith(each.path.slice(0, -1)) : path === each.path,
  );
  if (route !== undefined) {
    const clientAddress = border.clientAddress(request);
    await route.serve({ options, sessions, imports, request, response, clientAddress });
  } else if (path === '/' || path === '/ui') {
    // Relative: a proxy may have added a prefix to the path.
    response.writeHead(302, { ...SECURITY_HEADERS, Location: 'ui/', 'Content-Length': 0 }).end();
  } else if (target.startsWith('/')) {
    await sendFile(options.directory, path, request, response);
  } else {
    sendError(response, 400, 'only paths of this server are served');
  }
}

export type Visit = {
  readonly options: UiServerOptions;
  readonly sessions: PageSessions;
  readonly imports: ImportJobs;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly clientAddress: string;
};

/** Everything but files. `/*` is any path below. */
export const PAGE_ROUTES: readonly {
  readonly path: string;
  readonly serve: (visit: Visit) => Promise<void> | void;
}[] = [
  { path: '/health', serve: sendHealth },
  { path: '/api/session', serve: serveSession },
  { path: '/api/addresses', serve: sendAddresses },
  { path: '/api/import', serve: serveImport },
  { path: '/api/tsdb/*', serve: (visit) => forward(visit, '/api/tsdb', visit.options.tsdbUrl) },
  {
    path: '/api/engine/*',
    serve: (visit) => forward(visit, '/api/engine', visit.options.engineUrl),
  },
];

/** Whether the page works: this server, and the services behind it. */
async function sendHealth({ options, request, response }: Visit): Promise<void> {
  const { tsdbUrl, engineUrl } = options;
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    sendError(response, 405, 'only GET and HEAD');
    return;
  }
  const services = [
    { name: 'tsdb', url: tsdbUrl },
    { name: 'engine', url: engineUrl },
  ];
  const checks = await Promise.all(
    services.map(async ({ name, url }) => ({ name, ...(await healthOf(url)) })),
  );
  const status = STATES.findLast((state) => checks.some((check) => check.status === state));
  const isWorking = status !== 'fail';
  const message = checks
    .filter((check) => check.status !== 'pass')
    .map((check) => `${check.name}: ${check.message}`)
    .join(', ');
  sendJson(response, isWorking ? 200 : 503, {
    checks,
    message: message === '' ? 'ready' : message,
    name: 'tidemark-ui',
    status,
    version: TIDEMARK_VERSION,
  });
}

/**
 * Addresses of the services beside this server, for programs; `null` for a service not run here.
 */
function sendAddresses({ options, request, response }: Visit): void {
  if (request.method === 'GET') {
    const { tsdbUrl = null, engineUrl = null } = options;
    sendJson(response, 200, { tsdb: tsdbUrl, engine: engineUrl });
  } else {
    sendError(response, 405, 'only GET');
  }
}

/** From good to bad. */
const STATES = ['pass', 'warn', 'fail'] as const;

type Health = { readonly status: (typeof STATES)[number]; readonly message: string };

async function healthOf(url: string | undefined): Promise<Health> {
  if (url === undefined) return { status: 'pass', message: 'not run here' };
  try {
    const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
    const { status, message } = (await (await fetch(`${url}/health`, { signal })).json()) as Health;
    return { status: STATES.find((state) => state === status) ?? 'fail', message };
  } catch (error) {
    return { status: 'fail', message: messageOf(error) };
  }
}

/**
 * Forwards a call. After the prefix comes the path and query of the service: nothing in it can name
 * another host.
 */
function forward(
  { options, sessions, request, response, clientAddress }: Visit,
  prefix: string,
  base: string | undefined,
): void {
  const method = request.method ?? '';
  if (base === undefined) {
    sendError(response, 502, 'this service is not run here');
    return;
  }
  if (!FORWARDED_METHODS.includes(method)) {
    sendError(response, 405, `only ${FORWARDED_METHODS.join(', ')}`);
    return;
  }
  const { hostname, port, host } = new URL(base);
  // A body without a length has to be sent in chunks; otherwise its bytes would be read as another
  // request.
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const outgoing = httpRequest(
    {
      // An IPv6 address goes here without its brackets.
      hostname: hostname.replace(/^\[|\]$/g, ''),
      port,
      path: (request.url ?? '').slice(prefix.length),
      method,
      headers: {
        ...signedInHeaders(sessions.ofCall(request)),
        ...pick(request.headers, REQUEST_HEADERS),
        ...(isChunked ? { 'transfer-encoding': 'chunked' } : {}),
        [PAGE_KEY_HEADER]: options.pageKey,
        'x-forwarded-for': clientAddress,
        host,
      },
      timeout: options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
    },
    (incoming) => {
      outgoing.setTimeout(0);
      response.writeHead(incoming.statusCode ?? 502, {
        ...pick(incoming.headers, RESPONSE_HEADERS),
        ...DATA_SECURITY_HEADERS,
      });
      incoming.pipe(response);
    },
  );
  outgoing.on('timeout', () => outgoing.destroy(new Error('the service did not answer in time')));
  outgoing.on('error', (error) => {
    if (response.headersSent) response.destroy();
    else sendError(response, 502, `the service does not answer: ${error.message}`);
  });
  response.on('close', () => outgoing.destroy());
  request.pipe(outgoing);
}

const signedInHeaders = (session: Session | undefined): Readonly<Record<string, string>> =>
  session === undefined ? {} : { authorization: session.authorization };

/** Who is signed in (GET), sign-in (POST) and sign-out (DELETE). */
async function serveSession(visit: Visit): Promise<void> {
  const { sessions, request, response } = visit;
  const session = sessions.ofCookie(request);
  switch (request.method) {
    case 'GET':
      if (session === undefined) sendError(response, 401, 'nobody is signed in');
      else sendJson(response, 200, { ...session.signedIn, csrf: session.csrf });
      return;
    case 'POST':
      await signIn(visit);
      return;
    case 'DELETE': {
      const own = sessions.ofCall(request);
      if (own !== undefined) sessions.close(own);
      response.setHeader('Set-Cookie', sessionCookie(undefined, request));
      sendJson(response, 200, {});
      return;
    }
    default:
      sendError(response, 405, 'only GET, POST and DELETE');
  }
}

const SIGN_IN_BYTES_MAX = 10_000;

async function signIn({
  options,
  sessions,
  request,
  response,
  clientAddress,
}: Visit): Promise<void> {
  const { username, password } = signInFields(await readText(request, SIGN_IN_BYTES_MAX));
  if (username === '') {
    sendError(response, 400, 'the body must be {"username": "…", "password": "…"}');
    return;
  }
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const authorization = `Basic ${credentials}`;
  const { pageKey, tsdbUrl, engineUrl } = options;
  const question = { username, authorization, clientAddress, pageKey, tsdbUrl, engineUrl };
  const answer = await verifySignIn(question);
  if ('error' in answer) {
    sendError(response, answer.status, answer.error);
    return;
  }
  // A session that somebody else may have planted is not reused.
  const session = sessions.open(authorization, answer.signedIn);
  response.setHeader('Set-Cookie', sessionCookie(session, request));
  sendJson(response, 200, { ...session.signedIn, csrf: session.csrf });
}

function signInFields(text: string): { readonly username: string; readonly password: string } {
  try {
    const { username, password } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return { username: String(username ?? ''), password: String(password ?? '') };
  } catch {
    // Not JSON, or no body: no credentials, which the caller refuses.
    return { username: '', password: '' };
  }
}

function pick(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string') picked[name] = value;
  }
  return picked;
}

async function sendFile(
  directory: URL,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isPacked = /\bgzip\b/.test(String(request.headers['accept-encoding']));
  const file = await readPageFile(directory, path, isPacked);
  if (file === undefined) sendError(response, 404, 'not found');
  else if (request.method !== 'GET' && request.method !== 'HEAD') {
    sendError(response, 405, 'only GET and HEAD');
  } else {
    response.writeHead(200, file.headers);
    response.end(request.method === 'HEAD' ? undefined : file.body);
  }
}
