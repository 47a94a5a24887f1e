// Outgoing HTTP for handlers: keep-alive connections, TLS by configuration, bounded responses,
// deadlines.
import http from 'node:http';
import https from 'node:https';
import { readFileSync } from 'node:fs';
import { InvalidRequest, messageOf, TIMER_MS_MAX, Unavailable } from '@tidemark/core';
import { RESPONSE_BYTES_MAX } from './limits.ts';

export type TlsOptions = {
  readonly caFile?: string | undefined;
  readonly certificateFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly isVerificationSkipped?: boolean | undefined;
};

export type OutgoingRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly tls?: TlsOptions | undefined;
  readonly timeoutMs?: number | undefined;
  /**
   * Asked when the request has a connection, for which it may have waited long: whether it may
   * still be sent. Default: always.
   */
  readonly maySend?: (() => boolean) | undefined;
  /** Bytes of the response to keep; the rest is read and dropped. */
  readonly responseBytesMax?: number | undefined;
};

export type IncomingResponse = {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
};

export interface HttpSender {
  /**
   * Rejects with `Unavailable` without a response, and with `InvalidRequest` for an invalid URL.
   */
  send(request: OutgoingRequest, signal: AbortSignal): Promise<IncomingResponse>;
  close(): Promise<void>;
}

const CONNECTIONS_PER_HOST = 16;

/** Keeps one pool of connections per TLS configuration. */
export function httpSender(): HttpSender {
  const pools = new Map<string, http.Agent>();
  return {
    send(request, signal) {
      const url = parseUrl(request.url);
      const key = url.protocol === 'https:' ? `https ${JSON.stringify(request.tls ?? {})}` : 'http';
      let agent = pools.get(key);
      if (agent === undefined) {
        agent = openPool(url.protocol, request.tls);
        pools.set(key, agent);
      }
      return exchange(url, request, agent, signal);
    },
    close() {
      for (const agent of pools.values()) agent.destroy();
      pools.clear();
      return Promise.resolve();
    },
  };
}

/** A URL with one of the two protocols; its credentials become a header. */
function parseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // Shows neither the text nor a cause containing it: URLs of webhooks are secrets.
    throw new InvalidRequest('invalid URL');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new InvalidRequest(`unsupported protocol scheme. scheme=\`${url.protocol}\``);
  }
  return url;
}

/** How long a connection may be silent: within a request without a time-out, and while idle. */
const SILENT_MS = 60_000;

function openPool(protocol: string, tls: TlsOptions | undefined): http.Agent {
  const common = { keepAlive: true, maxSockets: CONNECTIONS_PER_HOST, timeout: SILENT_MS };
  if (protocol === 'http:') return new http.Agent(common);
  return new https.Agent({
    ...common,
    rejectUnauthorized: tls?.isVerificationSkipped !== true,
    ...readFileOption('ca', tls?.caFile),
    ...readFileOption('cert', tls?.certificateFile),
    ...readFileOption('key', tls?.keyFile),
  });
}

function readFileOption(name: string, file: string | undefined): Record<string, Buffer> {
  if (file === undefined || file === '') return {};
  try {
    return { [name]: readFileSync(file) };
  } catch (cause) {
    throw new InvalidRequest(`cannot read TLS file. option=\`ssl-${name}\` file=\`${file}\``, {
      cause,
    });
  }
}

function exchange(
  url: URL,
  request: OutgoingRequest,
  agent: http.Agent,
  signal: AbortSignal,
): Promise<IncomingResponse> {
  return new Promise((resolve, reject) => {
    const body = request.body === undefined ? undefined : Buffer.from(request.body);
    const fail = (cause: unknown): void => {
      const reason = messageOf(cause);
      reject(new Unavailable(`${request.method} ${url.origin}: ${reason}`, { cause }));
    };
    const isTls = url.protocol === 'https:';
    const client = isTls ? https : http;
    const timeoutMs = Math.min(request.timeoutMs ?? SILENT_MS, TIMER_MS_MAX);
    const options = {
      method: request.method,
      agent,
      signal,
      timeout: timeoutMs,
      headers: {
        ...request.headers,
        ...(body === undefined ? {} : { 'Content-Length': body.length }),
      },
    };
    let outgoing: http.ClientRequest;
    try {
      outgoing = client.request(url, options, (response) => {
        collect(response, request.responseBytesMax ?? RESPONSE_BYTES_MAX).then(resolve, fail);
      });
    } catch (cause) {
      // A header with a line break, or an invalid method.
      reject(new InvalidRequest(`${url.origin} cannot be asked: ${messageOf(cause)}`, { cause }));
      return;
    }
    const check = (): void => {
      if (request.maySend?.() === false) outgoing.destroy(new Error('it may not be sent any more'));
    };
    outgoing.on('socket', (socket) => {
      // An idle connection still has the time-out announced by its server.
      socket.setTimeout(timeoutMs);
      // What is written to one that is being opened is sent when it is open.
      if (socket.connecting) socket.once(isTls ? 'secureConnect' : 'connect', check);
      else check();
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    outgoing.on('error', fail);
    outgoing.end(body);
  });
}

async function collect(
  response: http.IncomingMessage,
  bytesMax: number,
): Promise<IncomingResponse> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response) {
    const bytes = chunk as Buffer;
    if (sizeBytes < bytesMax) chunks.push(bytes.subarray(0, bytesMax - sizeBytes));
    sizeBytes += bytes.length;
  }
  const body = Buffer.concat(chunks).toString('utf8');
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/**
 * Statuses that mean "not now": the receiver is overloaded, restarting or behind a broken proxy.
 */
export function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** The error for an unexpected response. */
export function refusal(status: number, message: string): InvalidRequest | Unavailable {
  return isRetryableStatus(status) ? new Unavailable(message) : new InvalidRequest(message);
}
