// Answers clients on the engine's address while it opens its store and its tasks.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { TIDEMARK_VERSION } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { BorderGuard } from '@tidemark/process';
import { PING_WAIT_MS } from '../limits.ts';
import { HEALTH_PATH } from './health-route.ts';
import { answerLive, healthOf } from './live-route.ts';
import { listenOn, nodeServer } from './node-server.ts';
import type { Address, NodeServerOptions } from './node-server.ts';
import { isPingPath } from './routes.ts';
import { sendJson } from './send-json.ts';
import { VERSION_HEADER } from './unreadable.ts';

export type StartingOptions = NodeServerOptions & {
  readonly hasCompatiblePaths: boolean;
  readonly border: BorderGuard;
  readonly clock: Clock;
};

/**
 * Listens until the engine does. `/health/live` is answered as always, pings wait a while for the
 * engine, and everything else is 503.
 */
export class StartingListener {
  readonly #options: StartingOptions;
  readonly #server: Server;
  /** Ends the waits of pings. */
  readonly #ended = new AbortController();
  #engine: RequestListener | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: StartingOptions) {
    this.#options = options;
    this.#server = nodeServer(
      options,
      (request, response) => void this.#answer(request, response), // Never rejects.
    );
  }

  /** Throws when the address cannot be listened on. */
  static async open(options: StartingOptions, address: Address): Promise<StartingListener> {
    const listener = new StartingListener(options);
    await listenOn(listener.#server, address);
    return listener;
  }

  /** Frees the address. Waiting pings keep waiting, for `answerWith` or `close`. */
  stopListening(): void {
    this.#closing ??= new Promise((resolve) => this.#server.close(() => resolve()));
  }

  /** The engine answers waiting pings from now on. */
  answerWith(engine: RequestListener): void {
    this.#engine = engine;
    this.#ended.abort();
  }

  /** Resolves when the last answer is sent. Idempotent. */
  async close(): Promise<void> {
    this.stopListening();
    this.#ended.abort();
    await this.#closing;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { border, hasCompatiblePaths } = this.#options;
    // The next request is for the engine, which has connections of its own.
    response.setHeader('Connection', 'close');
    response.setHeader(VERSION_HEADER, TIDEMARK_VERSION);
    for (const [name, value] of Object.entries(border.corsHeaders(request)))
      response.setHeader(name, value);
    const refusal = border.refusal(request);
    if (refusal !== undefined)
      return sendJson(response, refusal.status, { error: refusal.message });
    const url = request.url ?? '/';
    const [path] = url.split('?');
    const isGet = request.method === 'GET' || request.method === 'HEAD';
    if (answerLive(request, response)) return;
    const isPing = isGet && isPingPath(url, hasCompatiblePaths);
    if (isPing && (await this.#isTakenOver(request, response))) return;
    request.resume();
    response.setHeader('Retry-After', '1');
    if (path !== HEALTH_PATH) return sendJson(response, 503, { error: 'the engine is starting' });
    sendJson(response, 503, healthOf('fail', 'starting'));
  }

  /** Waits for the engine and lets it answer; returns whether it did. */
  async #isTakenOver(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.#ended.signal]);
    // Rejects when it is aborted: the wait has an end.
    await this.#options.clock.sleep(PING_WAIT_MS.value, signal).catch(() => undefined);
    if (this.#engine === undefined || gone.signal.aborted) return false;
    this.#engine(request, response);
    return true;
  }
}
