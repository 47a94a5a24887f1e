// Servers of node for the engine's address: the API, the listener while the engine starts, and the
// leader proxy of an instance.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { RequestListener } from 'node:http';
import { listenError } from '@tidemark/process';
import { CONNECTION_CHECK_MS, HEADERS_MS } from '../limits.ts';
import { BIND_SETTING } from './routes.ts';

export type NodeServerOptions = {
  /** Time within which a request has to arrive completely; 0 is no limit. */
  readonly requestTimeoutMs: number;
  /** The files of the certificate and its key, which may be the same one; absent without TLS. */
  readonly tls?:
    | {
        readonly certificateFile: string;
        readonly keyFile: string;
        readonly options: https.ServerOptions;
      }
    | undefined;
};

/** Node closes idle connections after 5 s by default, which breaks clients that reuse them. */
const KEEP_ALIVE_MS = 60_000;

/** Creates a server, which does not listen yet. Throws when a file of TLS cannot be read. */
export function nodeServer(
  { requestTimeoutMs, tls }: NodeServerOptions,
  answer: RequestListener,
): http.Server {
  const requestMs = requestTimeoutMs === 0 ? Number.MAX_SAFE_INTEGER : requestTimeoutMs;
  const options: http.ServerOptions = {
    // Checked by its user, so that the refusal has the headers of all answers.
    requireHostHeader: false,
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(HEADERS_MS.value, requestMs),
    // A time limit has to be checked more often than its own length.
    connectionsCheckingInterval: Math.min(CONNECTION_CHECK_MS.value, requestMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  if (tls === undefined) return http.createServer(options, answer);
  const cert = readFileSync(tls.certificateFile);
  const key = readFileSync(tls.keyFile || tls.certificateFile);
  return https.createServer({ ...options, ...tls.options, cert, key }, answer);
}

export type Address = { readonly host: string; readonly port: number };

/** Lets a server listen. Rejects when the address cannot be listened on. */
export function listenOn(server: http.Server, address: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error): void =>
      reject(listenError(cause, { ...address, setting: BIND_SETTING }));
    server.once('error', fail);
    server.listen(address, () => {
      server.off('error', fail);
      resolve();
    });
  });
}
