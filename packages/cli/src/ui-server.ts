// Serves the web application and forwards its calls to both services, so that a browser needs one origin.
//
// Security: the services may be open on loopback, so this server must not make them reachable for other origins. It
// answers only to the host names it is bound to (a name that was rebound by DNS is refused) and refuses requests that
// a page of another origin sent.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { extname, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Bind } from '@tidemark/core';

import { listen, urlOf } from './listen.ts';

export type UiServerOptions = {
  readonly bind: Bind;
  /** Folder of the built application. */
  readonly directory: URL;
  /** Base URLs of the services that are forwarded to; a missing one answers 502. */
  readonly tsdbUrl?: string | undefined;
  readonly engineUrl?: string | undefined;
};

export type UiServer = { readonly url: string; close(): Promise<void> };

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

const FORWARD_TIMEOUT_MS = 60_000;

/** Starts the server. Resolves when it listens. */
export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  const server = createServer((request, response) => {
    handle(options, server, request, response).catch((error: unknown) => {
      // Whatever went wrong belongs to this one request.
      if (!response.headersSent)
        sendError(response, 500, error instanceof Error ? error.message : 'failed');
      else response.destroy();
    });
  });
  await listen(server, options.bind);
  return {
    url: urlOf(server, options.bind.host),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  options: UiServerOptions,
  server: Server,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!isOwnHost(options.bind.host, server, request.headers.host)) {
    sendError(response, 421, 'this host name is not served here');
    return;
  }
  const origin = request.headers.origin;
  if (origin !== undefined && origin !== `http://${request.headers.host}`) {
    sendError(response, 403, 'requests from other origins are refused');
    return;
  }
  const url = new URL(request.url ?? '/', 'http://ui');
  if (url.pathname.startsWith('/api/tsdb/')) {
    forward(options.tsdbUrl, '/api/tsdb', request, response);
  } else if (url.pathname.startsWith('/api/engine/')) {
    forward(options.engineUrl, '/api/engine', request, response);
  } else {
    await sendFile(options.directory, url.pathname, request, response);
  }
}

/** Whether the Host header names this server: loopback names, the bound host, with the right port. */
function isOwnHost(boundHost: string, server: Server, header: string | undefined): boolean {
  const address = server.address();
  if (header === undefined || address === null || typeof address === 'string') return false;
  const port = String(address.port);
  const names = ['localhost', '127.0.0.1', '[::1]', boundHost, `[${boundHost}]`];
  if (names.some((name) => header === `${name}:${port}` || (port === '80' && header === name)))
    return true;
  // Bound to every address: the operator chose to be reachable under names that are not known here.
  return boundHost === '' || boundHost === '0.0.0.0' || boundHost === '::';
}

function forward(
  base: string | undefined,
  prefix: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (base === undefined) {
    sendError(response, 502, 'this service is not run here');
    return;
  }
  const target = new URL((request.url ?? '/').slice(prefix.length), base);
  // The services apply rules of their own to other origins; this one was checked here.
  const { origin: _origin, ...headers } = request.headers;
  const outgoing = httpRequest(
    target,
    {
      method: request.method ?? 'GET',
      headers: { ...headers, host: target.host },
      timeout: FORWARD_TIMEOUT_MS,
    },
    (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.headers);
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

async function sendFile(
  directory: URL,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    sendError(response, 405, 'only GET and HEAD');
    return;
  }
  const relative = normalize(decodePath(path)).replace(/^\/+/, '');
  const file = new URL(relative === '' ? 'index.html' : relative, directory);
  const isInside = file.href.startsWith(directory.href);
  const size = isInside ? await fileSize(file) : undefined;
  if (size === undefined) {
    sendError(response, 404, 'not found');
    return;
  }
  const isHashed = relative.startsWith('assets/');
  response.writeHead(200, {
    ...SECURITY_HEADERS,
    'Content-Type': CONTENT_TYPES[extname(file.pathname)] ?? 'application/octet-stream',
    'Content-Length': size,
    'Cache-Control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
  });
  if (request.method === 'HEAD') response.end();
  else createReadStream(fileURLToPath(file)).pipe(response);
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // A malformed escape names no file.
    return '\0';
  }
}

async function fileSize(file: URL): Promise<number | undefined> {
  try {
    const found = await stat(file);
    return found.isFile() ? found.size : undefined;
  } catch {
    // Missing, or a name that no file can have: both are "not found" to a browser.
    return undefined;
  }
}

function sendError(response: ServerResponse, status: number, message: string): void {
  const body = JSON.stringify({ error: message });
  response.writeHead(status, {
    ...SECURITY_HEADERS,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}
