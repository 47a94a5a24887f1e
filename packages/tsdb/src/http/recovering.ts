// Responses while storage reads its log: alive, but not ready.
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { BorderGuard } from '@tidemark/process';

import { askToRetry, sendError } from './answer.ts';
import { goneSignal, openExchange } from './exchange.ts';
import type { HeaderSettings } from './exchange.ts';
import { sendHealth, sendLive, sendRecovering } from './status-routes.ts';
import type { Readiness } from './readiness.ts';

export type RecoveringOptions = {
  readonly settings: HeaderSettings;
  readonly border: BorderGuard;
  readonly readiness: Readiness;
  /** Answers the request when the service has become ready. */
  readonly serve: () => void;
};

/**
 * `/health/live` is answered as always: a supervisor must not restart a process that is recovering.
 * `/ping` and `/status` wait a while for the service to be ready, because clients take the answer
 * as permission to continue. Everything else is 503, which clients retry.
 */
export async function answerWhileRecovering(
  request: IncomingMessage,
  response: ServerResponse,
  { settings, border, readiness, serve }: RecoveringOptions,
): Promise<void> {
  const exchange = openExchange(request, response, settings, border);
  const { method, path, refusal } = exchange;
  if (refusal !== undefined) {
    request.resume();
    return sendError(exchange, refusal.status, refusal.message);
  }
  const isGet = method === 'GET' || method === 'HEAD';
  if (isGet && path === '/health/live') return sendLive(exchange);
  const isPing = isGet && (path === '/ping' || path === '/status');
  if (isPing && (await readiness.waitUntilReady(goneSignal(exchange)))) return serve();
  request.resume();
  // The body may have any size: its sender gets the answer at once, and needs a new connection next
  // time.
  if (method === 'POST') response.setHeader('Connection', 'close');
  if (path !== '/health') return sendRecovering(exchange);
  askToRetry(exchange);
  sendHealth(exchange, 'recovering');
}
