// Transports of subscriptions: HTTP, HTTPS, UDP.
import { createSocket } from 'node:dgram';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

import { DeliveryRefused } from './destination.ts';
import type { Transport } from './destination.ts';
import { LIMITS } from '../limits.ts';

export type TransportOptions = {
  readonly destination: string;
  readonly database: string;
  readonly retentionPolicy: string;
  readonly timeoutMs: number;
  readonly insecureSkipVerify: boolean;
  /** PEM; `undefined` for the runtime's default certificates. */
  readonly caCertificates: string | undefined;
};

export function openTransport(options: TransportOptions): Transport {
  const url = new URL(options.destination);
  return url.protocol === 'udp:' ? udpTransport(url) : httpTransport(url, options);
}

function httpTransport(url: URL, options: TransportOptions): Transport {
  const isSecure = url.protocol === 'https:';
  const agent = isSecure
    ? new HttpsAgent({
        keepAlive: true,
        rejectUnauthorized: !options.insecureSkipVerify,
        ca: options.caCertificates,
      })
    : new HttpAgent({ keepAlive: true });
  const search = new URLSearchParams({
    consistency: '',
    db: options.database,
    precision: 'ns',
    rp: options.retentionPolicy,
  });
  const path = `${url.pathname.replace(/\/$/, '')}/write?${search.toString()}`;
  const auth =
    url.username === ''
      ? undefined
      : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const start = isSecure ? httpsRequest : httpRequest;
  return {
    send: (bytes, signal) =>
      new Promise((resolve, reject) => {
        const request = start(
          {
            agent,
            auth,
            hostname: url.hostname.replace(/^\[|\]$/g, ''),
            port: url.port,
            path,
            method: 'POST',
            headers: {
              'Content-Type': 'application/octet-stream',
              'Content-Length': bytes.length,
              'User-Agent': 'Tidemark',
            },
            timeout: options.timeoutMs,
            signal,
          },
          (response) => {
            response.resume();
            response.on('end', () => {
              const status = response.statusCode ?? 0;
              if (status >= 200 && status < 300) resolve();
              else if (status >= 500) reject(new Error(`destination answered ${status}`));
              else reject(new DeliveryRefused(`destination answered ${status}`));
            });
            response.on('error', reject);
          },
        );
        request.on('timeout', () =>
          request.destroy(new Error('destination did not answer in time')),
        );
        request.on('error', reject);
        request.end(bytes);
      }),
    close: () => agent.destroy(),
  };
}

function udpTransport(url: URL): Transport {
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const socket = createSocket(hostname.includes(':') ? 'udp6' : 'udp4');
  socket.unref();
  // Errors of single datagrams are reported by `send`.
  socket.on('error', () => undefined);
  const send = (datagram: Uint8Array): Promise<void> =>
    new Promise((resolve, reject) => {
      socket.send(datagram, Number(url.port), hostname, (error) =>
        error === null ? resolve() : reject(new DeliveryRefused(error.message, { cause: error })),
      );
    });
  return {
    async send(bytes) {
      for (const datagram of datagrams(bytes)) await send(datagram);
    },
    close: () => socket.close(),
  };
}

/** Cuts lines into datagrams, never within a line. */
export function* datagrams(bytes: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  let lastEnd = 0;
  while (lastEnd < bytes.length) {
    const newline = bytes.indexOf(10, lastEnd);
    const end = newline < 0 ? bytes.length : newline + 1;
    if (end - start > LIMITS.datagramBytes.value && lastEnd > start) {
      yield bytes.subarray(start, lastEnd);
      start = lastEnd;
    }
    lastEnd = end;
  }
  if (lastEnd > start) yield bytes.subarray(start, lastEnd);
}
