// A connection of the process to itself over a real socket, so that V8's optimisations of sockets,
// streams and the parser fit real requests.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

import { Internal } from '@tidemark/core';

const LOOPBACK = '127.0.0.1';
const HEADER_END = '\r\n\r\n';
const LAST_CHUNK = '\r\n0\r\n\r\n';

/** Sends requests one after another and drops the answers. */
export class WarmUpConnection {
  readonly #client: Socket;
  /** The answer so far, until it is complete. */
  #text = '';
  #end: (outcome: number | Error) => void = () => undefined;

  private constructor(client: Socket) {
    this.#client = client;
    client.setEncoding('latin1');
    client.on('data', (text: string) => {
      this.#text += text;
      if (isComplete(this.#text)) this.#end(Number(this.#text.slice(9, 12)));
    });
    client.on('error', (error) => this.#end(error));
    client.on('close', () => this.#end(new Internal('the warm-up has lost its connection')));
  }

  /** `take` gets the server's socket. */
  static async open(take: (socket: Socket) => void): Promise<WarmUpConnection> {
    const { client, server } = await socketPair();
    const connection = new WarmUpConnection(client);
    take(server);
    return connection;
  }

  /** Resolves with the status when the answer is complete. */
  get(path: string): Promise<number> {
    return this.#ask(`GET ${path} HTTP/1.1\r\nHost: ${LOOPBACK}${HEADER_END}`);
  }

  post(path: string, body: Uint8Array): Promise<number> {
    const head = `POST ${path} HTTP/1.1\r\nHost: ${LOOPBACK}\r\nContent-Length: ${body.length}`;
    return this.#ask(Buffer.concat([Buffer.from(`${head}${HEADER_END}`), body]));
  }

  #ask(request: string | Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#client.destroyed) {
        reject(new Internal('the warm-up has lost its connection'));
        return;
      }
      this.#text = '';
      this.#end = (outcome) => {
        if (typeof outcome === 'number') resolve(outcome);
        else reject(outcome);
      };
      this.#client.write(request);
    });
  }

  close(): void {
    this.#client.destroy();
  }
}

/** Our own answers have a length, or are in chunks. */
function isComplete(text: string): boolean {
  const end = text.indexOf(HEADER_END);
  if (end < 0) return false;
  const length = /^content-length: (\d+)\r$/im.exec(text.slice(0, end + 2))?.[1];
  if (length === undefined) return text.startsWith('HTTP/1.1 204') || text.endsWith(LAST_CHUNK);
  return text.length >= end + HEADER_END.length + Number(length);
}

/**
 * Both ends of a connection over the loopback address. Other clients that connect meanwhile are
 * disconnected.
 */
async function socketPair(): Promise<{ readonly client: Socket; readonly server: Socket }> {
  const listening = createServer({ noDelay: true });
  try {
    listening.listen(0, LOOPBACK);
    await once(listening, 'listening');
    const { port } = listening.address() as AddressInfo;
    const client = connect({ port, host: LOOPBACK, noDelay: true });
    const accepted = new Promise<Socket>((resolve) => {
      listening.on('connection', (socket: Socket) => {
        if (socket.remotePort === client.localPort) resolve(socket);
        else socket.destroy();
      });
    });
    await once(client, 'connect');
    return { client, server: await accepted };
  } finally {
    listening.close();
  }
}
