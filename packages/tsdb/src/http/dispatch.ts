// Dispatches a request to its endpoint: exact paths of the table first, then fastify; errors become
// responses.
import type { IncomingMessage, ServerResponse } from 'node:http';

import { AppError, Forbidden, Unauthorized } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { discardBody } from '@tidemark/process';
import type { BorderGuard, BorderRefusal } from '@tidemark/process';

import { claimedName } from '../auth/credentials.ts';
import { requireAdmin } from '../auth/identity.ts';
import type { Identity } from '../auth/identity.ts';
import { AUTHORIZATION_FAILED, METHOD_NOT_ALLOWED, PAGE_NOT_FOUND } from '../compat/messages.ts';
import type { AccessLog } from '../log/access-log.ts';
import {
  askToRetry,
  BodyTooLarge,
  ClientGone,
  sendCsvError,
  sendError,
  statusOf,
} from './answer.ts';
import type { Endpoint, ServedEndpoint } from './endpoints.ts';
import { headerSettings, openExchange } from './exchange.ts';
import type { Exchange, HeaderSettings } from './exchange.ts';
import type { HttpParts } from './parts.ts';
import { chooseEncoding } from './query-parameters.ts';
import { warnOfUnknown } from './unknown-parameters.ts';

export type DispatchOptions = {
  readonly endpoints: readonly ServedEndpoint[];
  /** Logs answered requests, if configured. */
  readonly accessLog: AccessLog | undefined;
  readonly parts: HttpParts;
};

/** Answers requests. Hot paths do not pass through fastify (docs/adr/0005-http-stack.md). */
export class Dispatch {
  readonly #parts: HttpParts;
  readonly #clock: Clock;
  readonly #accessLog: AccessLog | undefined;
  readonly #settings: HeaderSettings;
  readonly #byPath: ReadonlyMap<string, ServedEndpoint>;

  constructor({ accessLog, endpoints, parts }: DispatchOptions) {
    this.#parts = parts;
    this.#clock = parts.statements.clock;
    this.#accessLog = accessLog;
    this.#settings = headerSettings(parts.config.http);
    this.#byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
  }

  /** Opens the exchange of a request and counts it. */
  open(request: IncomingMessage, response: ServerResponse, border: BorderGuard): Exchange {
    const { counters, metrics } = this.#parts;
    const exchange = openExchange(request, response, this.#settings, border);
    const startedMs = this.#clock.monotonicMs();
    counters.req++;
    counters.reqActive++;
    response.once('close', () => {
      const status = response.statusCode;
      const durationMs = this.#clock.monotonicMs() - startedMs;
      counters.reqActive--;
      counters.reqDurationNs += Math.round(durationMs * 1e6);
      metrics.count({
        method: knownMethod(exchange.method),
        endpoint: this.#byPath.get(exchange.path)?.path ?? 'other',
        status,
      });
      if (status >= 500) counters.serverError++;
      else if (status >= 400) counters.clientError++;
      this.#accessLog?.write(exchange, { status, durationMs });
    });
    return exchange;
  }

  /** Answers a request that its listener does not serve, whatever its path. */
  refuse(exchange: Exchange, { status, message }: BorderRefusal): void {
    this.#parts.audit.refused(exchange, 'request refused', message);
    sendError(exchange, status, message);
    discardBody(exchange.request);
  }

  /** The endpoint of a path, if it is served. */
  endpoint(path: string): ServedEndpoint | undefined {
    return this.#byPath.get(path);
  }

  get endpoints(): Iterable<ServedEndpoint> {
    return this.#byPath.values();
  }

  /** Answers a request. Never rejects. */
  async answer(endpoint: ServedEndpoint | undefined, exchange: Exchange): Promise<void> {
    try {
      if (endpoint === undefined) return sendError(exchange, 404, PAGE_NOT_FOUND);
      await this.#serve(endpoint, exchange, this.#clock.monotonicMs());
    } catch (error) {
      this.#answerError(exchange, error);
    } finally {
      for (const part of exchange.parts.splice(0)) part.release();
    }
  }

  async #serve(endpoint: ServedEndpoint, exchange: Exchange, startedMs: number): Promise<void> {
    if (!endpoint.methods.includes(exchange.method)) {
      const { method, response } = exchange;
      response.setHeader('Allow', [...endpoint.methods, 'OPTIONS'].join(', '));
      if (method !== 'OPTIONS') return sendError(exchange, 405, METHOD_NOT_ALLOWED);
      response.statusCode = 204;
      response.end();
      return;
    }
    const found = this.#identify(endpoint, exchange);
    const identity = found instanceof Promise ? await found : found;
    warnOfUnknown(exchange, exchange.parameters);
    const { right } = endpoint;
    if (right !== 'write' && right !== 'statements') {
      return await endpoint.handle(exchange, this.#parts, identity);
    }
    const { counters, metrics, requests } = this.#parts;
    const isWrite = right === 'write';
    if (isWrite) {
      counters.writeReq++;
      counters.writeReqActive++;
    } else counters.queryReq++;
    try {
      await endpoint.handle(exchange, this.#parts, identity);
    } finally {
      const tookMs = this.#clock.monotonicMs() - startedMs;
      const tookNs = Math.round(tookMs * 1e6);
      if (isWrite) {
        counters.writeReqActive--;
        counters.writeReqDurationNs += tookNs;
      } else counters.queryReqDurationNs += tookNs;
      const name = isWrite ? 'writes' : 'queries';
      metrics[name].observe(tookMs / 1000);
      requests.count(name, countedName(exchange), exchange.remoteAddress);
    }
  }

  /**
   * Identifies the client. Throws if it lacks a right that does not depend on the contents of the
   * request.
   */
  #identify({ right }: Endpoint, exchange: Exchange): Identity | Promise<Identity> {
    const { authenticator, config } = this.#parts;
    const { pingAuthEnabled, pprofAuthEnabled } = config.http;
    const isForAll =
      right === 'open' ||
      (right === 'ping' && !pingAuthEnabled) ||
      (right === 'debug' && !pprofAuthEnabled);
    if (isForAll) return { kind: 'open' };
    const { parameters, remoteAddress, request } = exchange;
    const login = {
      userName: parameters.get('u'),
      password: parameters.get('p'),
      authorization: request.headers.authorization,
      address: remoteAddress,
    };
    const noted = (identity: Identity): Identity => {
      if (identity.kind === 'user') exchange.userName = identity.user.name;
      if (identity.kind === 'open') exchange.claimedName = claimedName(login);
      if (right === 'debug' || right === 'admin') requireAdmin(identity);
      return identity;
    };
    const found = authenticator.authenticate(login);
    return found instanceof Promise ? found.then(noted) : noted(found);
  }

  #answerError(exchange: Exchange, error: unknown): void {
    const { response } = exchange;
    const { audit, counters, log, config } = this.#parts;
    if (error instanceof ClientGone || response.destroyed) return;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    if (error instanceof Unauthorized) {
      counters.authFail++;
      audit.refused(exchange, 'credentials refused', error.message);
      response.setHeader('Www-Authenticate', `Basic realm="${config.http.realm}"`);
      // Only the log says what is wrong with a token or a password.
      return sendError(exchange, 401, AUTHORIZATION_FAILED);
    }
    const status = statusOf(error);
    if (status === 503) askToRetry(exchange);
    if (error instanceof BodyTooLarge) {
      sendError(exchange, 413, error.message);
      return discardBody(exchange.request);
    }
    // There was no memory for the body or it was too slow; the rest of it is discarded.
    if (status === 503 && !exchange.request.complete) discardBody(exchange.request);
    if (!(error instanceof AppError)) {
      counters.recoveredPanics++;
      log.error({ err: error, requestId: exchange.requestId }, 'a request failed unexpectedly');
      return sendError(exchange, 500, 'internal error');
    }
    if (error instanceof Forbidden) audit.refused(exchange, 'request refused', error.message);
    if (status === 429) audit.refused(exchange, 'login refused', error.message);
    if (status >= 500) log.warn({ err: error, requestId: exchange.requestId }, 'a request failed');
    if (exchange.path === '/query' && isCsvWanted(exchange)) {
      return sendCsvError(exchange, status, error.message);
    }
    const { diagnostics } = exchange;
    sendError(exchange, status, error.message, diagnostics === undefined ? {} : { diagnostics });
  }
}

/**
 * The user that requests are counted for: without authentication, the one that the client claims to
 * be.
 */
function countedName({ userName, claimedName = '' }: Exchange): string {
  return userName === '' ? claimedName : userName;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Methods made up by clients must not become labels. */
function knownMethod(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

function isCsvWanted(exchange: Exchange): boolean {
  return chooseEncoding(exchange.request.headers.accept) === 'csv';
}
