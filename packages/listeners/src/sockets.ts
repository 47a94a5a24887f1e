// Sockets of listeners: datagrams, and lines over TCP.
import { createSocket } from 'node:dgram';
import type { Socket as UdpSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import { listenError, parseBind } from '@tidemark/process';

import { LISTENER_IDLE_MS, TEXT_LINE_BYTES } from './limits.ts';

export type OpenSocket = { readonly port: number; close(): Promise<void> };

/** Listens for datagrams. */
export async function openUdp(
  options: { readonly bindAddress: string; readonly setting: string; readonly readBuffer: number },
  onDatagram: (bytes: Uint8Array, address: string) => void,
): Promise<OpenSocket> {
  const bind = parseBind(options.bindAddress, options.setting);
  const socket: UdpSocket = createSocket({
    type: bind.host.includes(':') ? 'udp6' : 'udp4',
    ...(options.readBuffer > 0 ? { recvBufferSize: options.readBuffer } : {}),
  });
  await new Promise<void>((resolve, reject) => {
    const onError = (error: Error): void => reject(listenError(error, bind));
    socket.once('error', onError);
    socket.bind(bind.port, bind.host === '' ? undefined : bind.host, () => {
      socket.off('error', onError);
      // A single failed receive is no reason to stop listening.
      socket.on('error', () => undefined);
      resolve();
    });
  });
  socket.on('message', (bytes, { address }) => onDatagram(bytes, address));
  return {
    port: socket.address().port,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** Listens for connections; `onConnection` owns the socket. */
export async function openTcp(
  options: {
    readonly bindAddress: string;
    readonly setting: string;
    readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  },
  onConnection: (socket: Socket) => void,
): Promise<OpenSocket> {
  const bind = parseBind(options.bindAddress, options.setting);
  const sockets = new Set<Socket>();
  const accept = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.setTimeout(LISTENER_IDLE_MS.value, () => socket.destroy());
    // The client went away; `close` follows.
    socket.on('error', () => undefined);
    onConnection(socket);
  };
  const server: Server =
    options.tls === undefined ? createServer(accept) : createTlsServer(options.tls, accept);
  await new Promise<void>((resolve, reject) => {
    const onError = (error: Error): void => reject(listenError(error, bind));
    server.once('error', onError);
    server.listen(bind.port, bind.host === '' ? undefined : bind.host, () => {
      server.off('error', onError);
      resolve();
    });
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : bind.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

// First line of what a web page can send to any port: a request whose body it chooses.
const HTTP_REQUEST = /^[A-Z]+ \S+ HTTP\/1\.[01]$/;

/**
 * Splits a connection's bytes into lines without `
 * ` and `\r`; the last one may lack its newline. A connection that begins as HTTP is closed:
 * browsers send lines of a page to any port.
 */
export function onLines(socket: Socket, onLine: (line: string) => void, first = ''): void {
  let rest = first;
  let isFirst = true;
  const pass = (line: string): void => {
    if (isFirst && HTTP_REQUEST.test(line)) socket.destroy();
    isFirst = false;
    if (!socket.destroyed) onLine(line);
  };
  const take = (): void => {
    for (let newline = rest.indexOf('\n'); newline >= 0; newline = rest.indexOf('\n')) {
      const line = rest.slice(0, newline);
      rest = rest.slice(newline + 1);
      pass(line.endsWith('\r') ? line.slice(0, -1) : line);
    }
    if (rest.length > TEXT_LINE_BYTES.value) socket.destroy();
  };
  take();
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    rest += String(chunk);
    take();
  });
  socket.on('end', () => {
    if (rest !== '') pass(rest);
    rest = '';
  });
}
