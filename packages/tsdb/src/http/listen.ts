// Sockets of the service: several addresses, a unix socket, HTTPS; limits of connections; a stop
// that drains.
import { readFileSync, unlinkSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureVersion } from 'node:tls';

import {
  bindUrl,
  BorderGuard,
  InvalidRequest,
  listenError,
  messageOf,
  parseBind,
} from '@tidemark/core';
import type { Bind, BorderSettings } from '@tidemark/core';

import type { TsdbConfig } from '../config/schema.ts';
import { LIMITS } from '../limits.ts';
import type { ClientError, Refuser } from './malformed.ts';

/** Answers a request; `border` is that of the listener that it came to. */
export type BorderedListener = (
  request: IncomingMessage,
  response: ServerResponse,
  border: BorderGuard,
) => void;

/** `boundHost` is `undefined` where only programs of this machine come in. */
export function borderOf(
  { http }: TsdbConfig,
  own: Pick<BorderSettings, 'boundHost' | 'pageKey'>,
): BorderGuard {
  const { allowedHosts, allowedOrigins, trustedProxies, authEnabled } = http;
  return new BorderGuard({
    section: 'http',
    isOpen: !authEnabled,
    allowedHosts,
    allowedOrigins,
    trustedProxies,
    ...own,
  });
}

/** Servers that are listening. */
export class Listeners {
  readonly #servers: (Server | HttpsServer)[] = [];
  // Requests in work per connection. Node's own list takes a connection that never sent anything
  // for a busy one.
  readonly #connections = new Map<Socket, Set<ServerResponse>>();
  readonly #refuser: Refuser;
  readonly #pageKey: string | undefined;
  readonly #urls: string[] = [];
  #isClosing = false;
  #socketPath: string | undefined;

  /** `refuser` answers what is no request. */
  constructor(refuser: Refuser, pageKey?: string) {
    this.#refuser = refuser;
    this.#pageKey = pageKey;
  }

  /** URLs of all addresses, in the order of the configuration. */
  get urls(): readonly string[] {
    return this.#urls;
  }

  /** Starts to listen everywhere. What was opened stays open when it throws: call `close`. */
  async open(config: TsdbConfig, onRequest: BorderedListener): Promise<void> {
    const { http } = config;
    const listenerAt = (boundHost: string | undefined): RequestListener => {
      const border = borderOf(config, { boundHost, pageKey: this.#pageKey });
      return (request, response) => {
        this.#track(request.socket, response);
        onRequest(request, response, border);
      };
    };
    for (const text of http.bindAddress.split(',')) {
      const bind = parseBind(text, 'http.bind-address');
      const listener = listenerAt(bind.host);
      const server = http.httpsEnabled
        ? secureServer(config, listener)
        : plainServer(config, listener);
      this.#follow(server);
      await listenOn(server, { ...bind, setting: BIND_SETTING });
      this.#urls.push(urlOf(server, bind, http.httpsEnabled));
    }
    if (!http.unixSocketEnabled) return;
    const server = plainServer(config, listenerAt(undefined));
    this.#follow(server);
    removeStaleSocket(http.bindSocket);
    await listenOn(server, { path: http.bindSocket, setting: 'http.bind-socket' });
    this.#socketPath = http.bindSocket;
  }

  #follow(server: Server | HttpsServer): void {
    this.#servers.push(server);
    const isSecure = 'setSecureContext' in server;
    server.on(isSecure ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#connections.set(socket, new Set());
      socket.once('close', () => this.#connections.delete(socket));
    });
    server.on('clientError', (error: ClientError, socket) => this.#refuse(error, socket));
    server.on('connect', (_request, socket) => this.#refuser.connect(socket));
  }

  /** Into an answer that has begun nothing else can be written. */
  #refuse(error: ClientError, socket: Duplex): void {
    const active = this.#connections.get(socket as Socket) ?? [];
    if ([...active].some((response) => response.headersSent)) socket.destroy();
    else this.#refuser.malformed(error, socket);
  }

  #track(socket: Socket, response: ServerResponse): void {
    const active = this.#connections.get(socket);
    active?.add(response);
    if (this.#isClosing) response.setHeader('Connection', 'close');
    response.once('close', () => {
      active?.delete(response);
      if (this.#isClosing && active?.size === 0) socket.destroySoon();
    });
  }

  /** Reads certificate and key again; running connections keep theirs. */
  reloadCertificates(config: TsdbConfig): void {
    for (const server of this.#servers) {
      if ('setSecureContext' in server) server.setSecureContext(secureOptions(config));
    }
  }

  /** Stops accepting; resolves when the last answer is out. Idle connections are closed at once. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const closed = this.#servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          // An error says that it was not listening, which is what is wanted.
          server.close(() => resolve());
        }),
    );
    for (const [socket, active] of this.#connections) {
      if (active.size === 0) socket.destroy();
      for (const response of active) {
        if (!response.headersSent) response.setHeader('Connection', 'close');
      }
    }
    await Promise.all(closed);
    if (this.#socketPath !== undefined) removeStaleSocket(this.#socketPath);
    this.#socketPath = undefined;
  }

  /** Breaks what is still open. */
  closeAllConnections(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }
}

function serverOptions({ http }: TsdbConfig) {
  // 0 is no limit. A limit means little when it is looked at less often than it is long.
  const requestMs = http.requestTimeoutMs === 0 ? Number.MAX_SAFE_INTEGER : http.requestTimeoutMs;
  return {
    // Node's own answer to a request without a Host header has no body and none of our headers.
    requireHostHeader: false,
    requestTimeout: http.requestTimeoutMs,
    headersTimeout: Math.min(LIMITS.headersMs.value, requestMs),
    connectionsCheckingInterval: Math.min(LIMITS.connectionCheckMs.value, requestMs),
    keepAliveTimeout: LIMITS.keepAliveMs.value,
    maxHeaderSize: LIMITS.headerBytes.value,
    noDelay: true,
  };
}

function plainServer(config: TsdbConfig, listener: RequestListener): Server {
  return limited(createHttpServer(serverOptions(config), listener), config);
}

function secureServer(config: TsdbConfig, listener: RequestListener): HttpsServer {
  const options = { ...serverOptions(config), ...secureOptions(config) };
  return limited(createHttpsServer(options, listener), config);
}

function limited<S extends Server | HttpsServer>(server: S, { http }: TsdbConfig): S {
  if (http.maxConnectionLimit > 0) server.maxConnections = http.maxConnectionLimit;
  return server;
}

const BIND_SETTING = 'http.bind-address (--bind, with `up` --tsdb-bind)';

function secureOptions({ http, tls }: TsdbConfig) {
  const version = (name: string): SecureVersion => (name === 'tls1.3' ? 'TLSv1.3' : 'TLSv1.2');
  const cert = readSetting('http.https-certificate', http.httpsCertificate);
  return {
    cert,
    key:
      http.httpsPrivateKey === ''
        ? cert
        : readSetting('http.https-private-key', http.httpsPrivateKey),
    minVersion: version(tls.minVersion),
    maxVersion: version(tls.maxVersion),
    ...(tls.ciphers.length === 0 ? {} : { ciphers: tls.ciphers.join(':') }),
  };
}

function readSetting(setting: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = messageOf(error);
    throw new InvalidRequest(`${setting} can not be read: ${reason}`, { cause: error });
  }
}

function listenOn(
  server: Server | HttpsServer,
  place: Bind | { readonly path: string; readonly setting: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(listenError(error, place));
    server.once('error', onError);
    const options = 'host' in place && place.host === '' ? { port: place.port } : place;
    server.listen(options, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function urlOf(server: Server | HttpsServer, bind: Bind, isSecure: boolean): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : bind.port;
  return bindUrl(isSecure ? 'https' : 'http', { host: bind.host, port });
}

function removeStaleSocket(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
