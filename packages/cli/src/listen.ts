// Binding a server to HOST:PORT, with sentences instead of error codes.
import type { Server } from 'node:http';

import { InvalidRequest, Unavailable } from '@tidemark/core';

export type Bind = { readonly host: string; readonly port: number };

/** Parses `HOST:PORT`, `[::1]:PORT` and `:PORT` (all addresses). Throws `InvalidRequest` naming the setting. */
export function parseBind(text: string, setting: string): Bind {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:]*)):(\d{1,5})$/i.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new InvalidRequest(
      `${setting} must be HOST:PORT, for example 127.0.0.1:8086; got ${JSON.stringify(text)}`,
    );
  }
  const host = match[1] ?? match[2] ?? '';
  return { host: host === '' ? '0.0.0.0' : host, port };
}

/** Listens; a taken or forbidden port becomes a sentence. */
export function listen(server: Server, bind: Bind): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, bind)));
    server.listen({ host: bind.host, port: bind.port }, () => resolve());
  });
}

/** Explains why a server could not listen. */
export function listenError(error: NodeJS.ErrnoException, bind: Bind): Error {
  const place = `${bind.host}:${bind.port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new Unavailable(
        `${place} is already in use: another process listens there. Stop it or choose another address`,
        { cause: error },
      );
    case 'EACCES':
      return new Unavailable(
        `not allowed to listen on ${place}; ports below 1024 need a privilege`,
        { cause: error },
      );
    case 'EADDRNOTAVAIL':
      return new Unavailable(`${place} is not an address of this machine`, { cause: error });
    default:
      return error;
  }
}

/** The URL under which a listening server is reached from this machine. */
export function formatUrl(server: Server, host: string): string {
  const address = server.address();
  const port = address !== null && typeof address !== 'string' ? address.port : 0;
  const name =
    host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
