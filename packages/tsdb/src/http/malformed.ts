// Responses to requests that Node's parser rejects: invalid bytes, endless headers, a request that
// does not arrive in time. Node's own responses have no body and none of our headers.
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

import type { Clock } from '@tidemark/core';

import { METHOD_NOT_ALLOWED } from '../compat/messages.ts';
import type { HeaderSettings } from './exchange.ts';

/** An error of Node's parser or its timeouts; `reason` is the parser's text. */
export type ClientError = Error & { readonly code?: string; readonly reason?: string };

type Refusal = { readonly status: number; readonly text: string };

/** Writes such responses; each ends its connection. */
export class Refuser {
  readonly #settings: HeaderSettings;
  readonly #clock: Clock;

  constructor(settings: HeaderSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
  }

  malformed(error: ClientError, socket: Duplex): void {
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
    else this.#end(socket, refusalOf(error));
  }

  /** CONNECT is for proxies. */
  connect(socket: Duplex): void {
    socket.on('error', () => socket.destroy()); // Nobody else listens once node has let go of it.
    this.#end(socket, { status: 405, text: METHOD_NOT_ALLOWED });
  }

  #end(socket: Duplex, { status, text }: Refusal): void {
    const body = `${JSON.stringify({ error: text })}\n`;
    const requestId = randomUUID();
    const now = new Date(Number(this.#clock.now() / 1_000_000n));
    const headers: Readonly<Record<string, string>> = {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      'Request-Id': requestId,
      'X-Request-Id': requestId,
      ...Object.fromEntries(this.#settings.common),
      Date: now.toUTCString(),
      Connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const first = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
    socket.end(`${first}${lines.join('')}\r\n${body}`);
  }
}

function refusalOf({ code, reason, message }: ClientError): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, text: 'the header of the request is too large' };
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { status: 413, text: 'the extensions of a chunk are too large' };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, text: 'the request did not arrive in time' };
    case 'HPE_INVALID_URL':
      return {
        status: 400,
        text: 'malformed request: the URL has a byte that must be written as % and two hexadecimal digits',
      };
    default:
      return { status: 400, text: `malformed request: ${reason ?? message}` };
  }
}
