// A proxy between a front end and a ClickHouse server that holds statements back, like a network or
// a server that hangs for a while: the client gives up, and the server receives the statements
// later.
import { once } from 'node:events';
import { createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy of a server that can hold requests back until they are released. */
export type Gate = {
  readonly url: string;
  /** Holds back the statements of this kind from now on. */
  hold(isHeld: (sql: string) => boolean): void;
  /** Sends the held statements, even where the client has given up. */
  release(): Promise<void>;
  readonly heldCount: number;
  close(): Promise<void>;
};

export async function openGate(target: string): Promise<Gate> {
  let isHeld: (sql: string) => boolean = () => false;
  let held: (() => Promise<void>)[] = [];
  const forward = (path: string, method: string, body: Buffer, response: ServerResponse) =>
    new Promise<void>((resolve) => {
      const call = sendRequest(`${target}${path}`, { method }, (answer: IncomingMessage) => {
        answer.on('end', resolve);
        if (response.destroyed) answer.resume();
        else answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers));
      });
      call.on('error', () => {
        response.destroy();
        resolve();
      });
      call.end(body);
    });
  const server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      const path = request.url ?? '/';
      const { searchParams } = new URL(path, target);
      const sql = searchParams.get('query') ?? body.toString();
      const send = () => forward(path, request.method ?? 'POST', body, response);
      if (isHeld(sql)) held.push(send);
      else await send();
    })().catch(() => response.destroy()); // The client has gone.
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (which) => (isHeld = which),
    release: async () => {
      isHeld = () => false;
      const all = held;
      held = [];
      for (const one of all) await one();
    },
    get heldCount() {
      return held.length;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
