// What the HTTP interface answers while storage reads its log: alive, but not ready.
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { BorderGuard } from '@tidemark/process';

import { askToRetry, sendEmpty, sendError } from './answer.ts';
import { openExchange } from './exchange.ts';
import type { HeaderSettings } from './exchange.ts';
import { sendHealth } from './status-routes.ts';

/**
 * Liveness (`/ping`, `/status`) is answered as always: a supervisor must not restart a process that
 * is recovering. Everything else is 503, which clients repeat.
 */
export function answerWhileRecovering(
  request: IncomingMessage,
  response: ServerResponse,
  settings: HeaderSettings,
  border: BorderGuard,
): void {
  const exchange = openExchange(request, response, settings, border);
  request.resume();
  const { refusal } = exchange;
  if (refusal !== undefined) return sendError(exchange, refusal.status, refusal.message);
  const isLiveness = exchange.path === '/ping' || exchange.path === '/status';
  if (isLiveness && (exchange.method === 'GET' || exchange.method === 'HEAD')) {
    return sendEmpty(exchange);
  }
  askToRetry(exchange);
  // The body may be anything; who sends one gets the answer at once and a connection of its own
  // next time.
  if (exchange.method === 'POST') response.setHeader('Connection', 'close');
  if (exchange.path === '/health') return sendHealth(exchange, 'recovering');
  sendError(exchange, 503, 'the service is recovering');
}
