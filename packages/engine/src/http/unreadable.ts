// Responses to requests that reach no endpoint: invalid HTTP, headers that are too long, clients
// that are too slow.
import { STATUS_CODES } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TIDEMARK_VERSION } from '@tidemark/core';

/** Names the version of the engine on every answer. */
export const VERSION_HEADER = 'X-Engine-Version';

/** Answers input that is no valid request, and ends the connection. */
export function refuseUnreadable(
  error: Error & { readonly code?: string | undefined },
  socket: Socket,
): void {
  // The client is gone.
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) socket.write(answerTo(error.code));
  socket.destroy(error);
}

/** Answers a request with an `Expect` other than `100-continue`. */
export function refuseExpectation(response: ServerResponse): void {
  const body = errorBody('only "Expect: 100-continue" is understood');
  response.writeHead(417, {
    [VERSION_HEADER]: TIDEMARK_VERSION,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

function answerTo(code: string | undefined): string {
  const { status, reason } = refusalOf(code);
  const body = errorBody(reason);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `${VERSION_HEADER}: ${TIDEMARK_VERSION}`,
    'Connection: close',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}

function refusalOf(code: string | undefined): { readonly status: number; readonly reason: string } {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, reason: 'the request did not arrive in time (http.request-timeout)' };
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, reason: 'the headers of the request are too long' };
    default:
      return { status: 400, reason: 'this is not an HTTP request' };
  }
}

function errorBody(error: string): string {
  return `${JSON.stringify({ error })}\n`;
}
