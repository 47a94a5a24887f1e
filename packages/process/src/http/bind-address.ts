// Addresses that a server listens on: parsing and printing `HOST:PORT`, whether others can reach
// them, and why listening failed.
import { InvalidRequest, Unavailable } from '@tidemark/core';

/** An empty host means all addresses of the machine. */
export type Bind = {
  readonly host: string;
  readonly port: number;
  /** The setting to change for another address. */
  readonly setting?: string | undefined;
};

/** Parses `HOST:PORT`, `[::1]:PORT` and `:PORT`. Throws `InvalidRequest` naming the setting. */
export function parseBind(text: string, setting: string): Bind {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:]*)):(\d{1,5})$/i.exec(text.trim());
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new InvalidRequest(
      `${setting} must be HOST:PORT, for example 127.0.0.1:8086; got ${JSON.stringify(text)}`,
    );
  }
  return { host: match[1] ?? match[2] ?? '', port, setting };
}

/**
 * Whether only this machine can reach the host. A name that merely begins with 127 may resolve to
 * anything.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The URL under which this machine reaches a server that listens at `bind`. */
export function bindUrl(scheme: 'http' | 'https', { host, port }: Bind): string {
  const isAny = host === '' || host === '0.0.0.0' || host === '::';
  const name = isAny ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `${scheme}://${name}:${port}`;
}

/**
 * An error with a sentence instead of the system's error code; other errors are returned unchanged.
 */
export function listenError(
  error: Error & { readonly code?: string | undefined },
  place: Bind | { readonly path: string; readonly setting?: string | undefined },
): Error {
  const another =
    place.setting === undefined ? 'choose another address' : `choose another with ${place.setting}`;
  const name =
    'path' in place
      ? place.path
      : `${place.host === '' ? 'all addresses' : place.host}:${place.port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new Unavailable(
        `${name} is already in use: another process listens there. Stop it, or ${another}`,
        { cause: error },
      );
    case 'EACCES':
      return new Unavailable(
        `not allowed to listen on ${name}; ports below 1024 need a privilege; ${another}`,
        { cause: error },
      );
    case 'EADDRNOTAVAIL':
      return new Unavailable(`${name} is not an address of this machine; ${another}`, {
        cause: error,
      });
    default:
      return error;
  }
}
