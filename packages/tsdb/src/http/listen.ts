// Servers for the sockets of the service: plain and HTTPS, with their limits and access checks.
import { unlinkSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import type { SecureVersion } from 'node:tls';

import { bindUrl, BorderGuard, listenError } from '@tidemark/process';
import type { Bind, BorderSettings } from '@tidemark/process';

import { readSetting } from '../config/read-setting.ts';
import type { TsdbConfig } from '../config/schema.ts';
import { LIMITS } from '../limits.ts';

/** Answers a request; `border` is that of its listener. */
export type BorderedListener = (
  request: IncomingMessage,
  response: ServerResponse,
  border: BorderGuard,
) => void;

/** `boundHost` is `undefined` if only programs of this machine can connect. */
export function borderOf(
  { http }: TsdbConfig,
  own: Pick<BorderSettings, 'boundHost' | 'pageKey'>,
): BorderGuard {
  const { allowedHosts, allowedOrigins, trustedProxies, authEnabled } = http;
  return new BorderGuard({
    section: 'http',
    isOpen: !authEnabled,
    allowedHosts,
    allowedOrigins,
    trustedProxies,
    ...own,
  });
}

function serverOptions({ http }: TsdbConfig) {
  // 0 is no limit. Checks less frequent than the limit would make it meaningless.
  const requestMs = http.requestTimeoutMs === 0 ? Number.MAX_SAFE_INTEGER : http.requestTimeoutMs;
  return {
    // Node's own answer to a request without a Host header has no body and none of our headers.
    requireHostHeader: false,
    requestTimeout: http.requestTimeoutMs,
    headersTimeout: Math.min(LIMITS.headersMs.value, requestMs),
    connectionsCheckingInterval: Math.min(LIMITS.connectionCheckMs.value, requestMs),
    keepAliveTimeout: LIMITS.keepAliveMs.value,
    maxHeaderSize: LIMITS.headerBytes.value,
    noDelay: true,
  };
}

/** A server that does not listen yet. */
export function createServer(
  config: TsdbConfig,
  isSecure: boolean,
  listener: RequestListener,
): Server | HttpsServer {
  const options = serverOptions(config);
  const server = isSecure
    ? createHttpsServer({ ...options, ...secureOptions(config) }, listener)
    : createHttpServer(options, listener);
  const { maxConnectionLimit } = config.http;
  if (maxConnectionLimit > 0) server.maxConnections = maxConnectionLimit;
  return server;
}

export const BIND_SETTING = 'http.bind-address (--bind, with `up` --tsdb-bind)';

export function secureOptions({ http, tls }: TsdbConfig) {
  const version = (name: string): SecureVersion => (name === 'tls1.3' ? 'TLSv1.3' : 'TLSv1.2');
  const cert = readSetting('http.https-certificate', http.httpsCertificate);
  return {
    cert,
    key:
      http.httpsPrivateKey === ''
        ? cert
        : readSetting('http.https-private-key', http.httpsPrivateKey),
    minVersion: version(tls.minVersion),
    maxVersion: version(tls.maxVersion),
    ...(tls.ciphers.length === 0 ? {} : { ciphers: tls.ciphers.join(':') }),
  };
}

export function listenOn(
  server: Server | HttpsServer,
  place: Bind | { readonly path: string; readonly setting: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(listenError(error, place));
    server.once('error', onError);
    const options = 'host' in place && place.host === '' ? { port: place.port } : place;
    server.listen(options, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

export function urlOf(server: Server | HttpsServer, bind: Bind, isSecure: boolean): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : bind.port;
  return bindUrl(isSecure ? 'https' : 'http', { host: bind.host, port });
}

export function removeStaleSocket(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
