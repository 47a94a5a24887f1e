// The HTTP server, from the start of the process: listens at several addresses and a unix socket
// while storage recovers, then serves, then drains.
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { assert } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { parseBind } from '@tidemark/process';

import type { TsdbConfig } from '../config/schema.ts';
import { LIMITS } from '../limits.ts';
import { headerSettings } from './exchange.ts';
import {
  BIND_SETTING,
  borderOf,
  createServer,
  listenOn,
  removeStaleSocket,
  secureOptions,
  urlOf,
} from './listen.ts';
import type { BorderedListener } from './listen.ts';
import { Refuser } from './malformed.ts';
import type { ClientError } from './malformed.ts';
import type { Readiness } from './readiness.ts';
import { answerWhileRecovering } from './recovering.ts';

/** Listens first, answers everything once it may `serve`. */
export class HttpServer {
  readonly #config: TsdbConfig;
  readonly #clock: Clock;
  readonly #pageKey: string | undefined;
  readonly #readiness: Readiness;
  readonly #refuser: Refuser;
  readonly #servers: (Server | HttpsServer)[] = [];
  // Active requests per connection. Node's own list counts a connection that never sent anything as
  // busy.
  readonly #connections = new Map<Socket, ServerResponse[]>();
  readonly #urls: string[] = [];
  #onRequest: BorderedListener;
  /** Answers the requests of the process's connection to itself. */
  #own: { readonly socket: Socket; readonly onRequest: RequestListener } | undefined;
  #cancelQueries = (): void => undefined;
  #closing: Promise<void> | undefined;
  #socketPath: string | undefined;

  constructor(
    config: TsdbConfig,
    {
      clock,
      pageKey,
      readiness,
    }: {
      readonly clock: Clock;
      readonly pageKey?: string | undefined;
      readonly readiness: Readiness;
    },
  ) {
    const settings = headerSettings(config.http);
    this.#config = config;
    this.#clock = clock;
    this.#pageKey = pageKey;
    this.#refuser = new Refuser(settings, clock);
    this.#readiness = readiness;
    this.#onRequest = (request, response, border) => {
      const serve = (): void => this.#onRequest(request, response, border);
      // Never rejects.
      void answerWhileRecovering(request, response, { settings, border, readiness, serve });
    };
  }

  /** URLs of all addresses, in the order of the configuration; none when HTTP is disabled. */
  get urls(): readonly string[] {
    return this.#urls;
  }

  /**
   * Starts to listen everywhere. Until `serve`, only liveness is answered. If it throws, opened
   * sockets stay open: call `close`.
   */
  async open(): Promise<void> {
    const { http } = this.#config;
    if (!http.enabled) return;
    for (const text of http.bindAddress.split(',')) {
      const bind = parseBind(text, 'http.bind-address');
      const server = this.#serverFor(bind.host, http.httpsEnabled);
      await listenOn(server, { ...bind, setting: BIND_SETTING });
      this.#urls.push(urlOf(server, bind, http.httpsEnabled));
    }
    if (!http.unixSocketEnabled) return;
    const server = this.#serverFor(undefined, false);
    removeStaleSocket(http.bindSocket);
    await listenOn(server, { path: http.bindSocket, setting: 'http.bind-socket' });
    this.#socketPath = http.bindSocket;
  }

  #serverFor(boundHost: string | undefined, isSecure: boolean): Server | HttpsServer {
    const border = borderOf(this.#config, { boundHost, pageKey: this.#pageKey });
    const server = createServer(this.#config, isSecure, (request, response) => {
      this.#track(request.socket, response);
      if (this.#own?.socket === request.socket) this.#own.onRequest(request, response);
      else this.#onRequest(request, response, border);
    });
    this.#follow(server);
    return server;
  }

  /** Answers all requests from now on; `cancelQueries` ends those that delay a stop. */
  serve(onRequest: BorderedListener, cancelQueries: () => void): void {
    this.#onRequest = onRequest;
    this.#cancelQueries = cancelQueries;
    this.#readiness.serves();
  }

  /**
   * Takes a connection that was accepted elsewhere, as if it had been accepted here; `onRequest`
   * answers its requests. One at a time.
   */
  take(socket: Socket, onRequest: RequestListener): void {
    const [server] = this.#servers;
    assert(server !== undefined, 'listens somewhere');
    this.#own = { socket, onRequest };
    socket.once('close', () => {
      if (this.#own?.socket === socket) this.#own = undefined;
    });
    server.emit('setSecureContext' in server ? 'secureConnection' : 'connection', socket);
  }

  #follow(server: Server | HttpsServer): void {
    this.#servers.push(server);
    const isSecure = 'setSecureContext' in server;
    server.on(isSecure ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#connections.set(socket, []);
      socket.once('close', () => this.#connections.delete(socket));
    });
    server.on('clientError', (error: ClientError, socket) => this.#refuse(error, socket));
    server.on('connect', (_request, socket) => this.#refuser.connect(socket));
  }

  /** Nothing can be written into an answer that has begun. */
  #refuse(error: ClientError, socket: Duplex): void {
    const active = this.#connections.get(socket as Socket) ?? [];
    if (active.some((response) => response.headersSent)) socket.destroy();
    else this.#refuser.malformed(error, socket);
  }

  #track(socket: Socket, response: ServerResponse): void {
    const active = this.#connections.get(socket);
    active?.push(response);
    const isClosing = (): boolean => this.#closing !== undefined;
    if (isClosing()) response.setHeader('Connection', 'close');
    response.once('close', () => {
      active?.splice(active.indexOf(response), 1);
      if (isClosing() && active?.length === 0) socket.destroySoon();
    });
  }

  /** Reads certificate and key again; existing connections keep theirs. */
  reloadCertificates(): void {
    for (const server of this.#servers) {
      if ('setSecureContext' in server) server.setSecureContext(secureOptions(this.#config));
    }
  }

  /**
   * Stops accepting; resolves when the last answer is sent. Idle connections are closed at once;
   * requests may end by themselves for a while, then their queries are cancelled, then connections
   * are closed. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  async #drain(): Promise<void> {
    this.#readiness.close();
    const timer = new AbortController();
    const cut = (async () => {
      await this.#clock.sleep(LIMITS.drainMs.value, timer.signal);
      this.#cancelQueries();
      await this.#clock.sleep(LIMITS.cutMs.value, timer.signal);
      for (const socket of this.#connections.keys()) socket.destroy();
    })().catch(() => undefined); // Drained in time.
    await this.#closeServers();
    timer.abort();
    await cut;
    this.#cancelQueries();
  }

  async #closeServers(): Promise<void> {
    const closed = this.#servers.map(
      (server) =>
        new Promise<void>((resolve) => {
          // An error means that it was not listening, which is the goal.
          server.close(() => resolve());
        }),
    );
    for (const [socket, active] of this.#connections) {
      if (active.length === 0) socket.destroy();
      for (const response of active) {
        if (!response.headersSent) response.setHeader('Connection', 'close');
      }
    }
    await Promise.all(closed);
    if (this.#socketPath !== undefined) removeStaleSocket(this.#socketPath);
    this.#socketPath = undefined;
  }
}
