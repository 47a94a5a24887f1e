// Small responses: JSON, text, empty, errors.
import {
  AppError,
  Cancelled,
  Conflict,
  Forbidden,
  InvalidRequest,
  LimitExceeded,
  NotFound,
  Unauthorized,
  Unavailable,
} from '@tidemark/core';
import { csvError, escapedJson } from '@tidemark/query';

import { ENTITY_TOO_LARGE } from '../compat/messages.ts';
import type { Exchange } from './exchange.ts';

/** A request body over `http.max-body-size`. */
export class BodyTooLarge extends AppError {
  override readonly name = 'BodyTooLarge';
  readonly code = 'BODY_TOO_LARGE';

  constructor() {
    super(ENTITY_TOO_LARGE, { hint: 'raise http.max-body-size, or send less at once' });
  }
}

/** The client went away before its body had arrived. */
export class ClientGone extends AppError {
  override readonly name = 'ClientGone';
  readonly code = 'CLIENT_GONE';
}

/** A complete body. HEAD requests get the headers only. */
export function sendBody(
  exchange: Exchange,
  status: number,
  body: { readonly type: string; readonly content: string | Uint8Array },
): void {
  const { response } = exchange;
  const bytes = typeof body.content === 'string' ? Buffer.from(body.content) : body.content;
  response.statusCode = status;
  response.setHeader('Content-Type', body.type);
  response.setHeader('Content-Length', bytes.length);
  if (exchange.method === 'HEAD') response.end();
  else response.end(bytes);
}

export function sendJson(exchange: Exchange, status: number, value: unknown): void {
  const isPretty = exchange.parameters.get('pretty') === 'true';
  const json = JSON.stringify(value, undefined, isPretty ? '    ' : undefined);
  const content = `${escapedJson(json)}\n`;
  sendBody(exchange, status, { type: 'application/json', content });
}

export function sendText(exchange: Exchange, status: number, text: string): void {
  sendBody(exchange, status, { type: 'text/plain; charset=utf-8', content: `${text}\n` });
}

/** 204: headers only. */
export function sendEmpty(exchange: Exchange): void {
  exchange.response.statusCode = 204;
  exchange.response.setHeader('Content-Type', 'application/json');
  exchange.response.end();
}

/**
 * The progress of a client that has data to read (`Holder`), in bytes written; `undefined` while it
 * has none, because the service makes it wait.
 */
export function readProgress(response: Exchange['response']): number | undefined {
  return response.writableNeedDrain ? (response.socket?.bytesWritten ?? 0) : undefined;
}

// Longer texts are cut in the header; the body has them whole.
const ERROR_HEADER_BYTES = 1024;

// A log is read at hundreds of megabytes a second, and a queue of writes moves, so a retry after a
// second is soon enough.
const RETRY_AFTER_SECONDS = '1';

/** Asks clients to retry soon. For 503. */
export function askToRetry({ response }: Exchange): void {
  response.setHeader('Retry-After', RETRY_AFTER_SECONDS);
}

/** Sends `{"error": text}` and the error header that clients read first. */
export function sendError(
  exchange: Exchange,
  status: number,
  text: string,
  more?: Readonly<Record<string, unknown>>,
): void {
  const { response, settings } = exchange;
  if (status !== 401 && settings.hasCompatHeaders) {
    response.setHeader('X-Influxdb-Error', headerText(text));
  }
  sendJson(exchange, status, { error: text, ...more });
}

/** As `sendError`, for clients that read CSV. */
export function sendCsvError(exchange: Exchange, status: number, text: string): void {
  const { response, settings } = exchange;
  if (settings.hasCompatHeaders) response.setHeader('X-Influxdb-Error', headerText(text));
  sendBody(exchange, status, { type: 'text/csv', content: csvError(text) });
}

function headerText(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.slice(0, ERROR_HEADER_BYTES).replace(/[^\x20-\x7e]/g, (character) => {
    return character === '\n' ? ' ' : '?';
  });
}

/** The text of an error for clients that have got a part of their answer. */
export function shownMessage(error: unknown): string {
  return error instanceof AppError ? error.message : 'internal error';
}

/** The status for the class of an error. */
export function statusOf(error: unknown): number {
  if (error instanceof BodyTooLarge) return 413;
  if (error instanceof InvalidRequest) return 400;
  if (error instanceof Unauthorized) return 401;
  if (error instanceof Forbidden) return 403;
  if (error instanceof NotFound) return 404;
  if (error instanceof Conflict) return 409;
  if (error instanceof LimitExceeded) return error.setting === 'http.auth-enabled' ? 429 : 500;
  if (error instanceof Unavailable || error instanceof Cancelled) return 503;
  return 500;
}
