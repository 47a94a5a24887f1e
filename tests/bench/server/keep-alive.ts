// A cheap client with one connection, because a benchmark of thousands of small requests per second
// must not measure its own generator.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

const HEADER_END = '\r\n\r\n';

/** One request at a time; answers must have a length. */
export class KeepAlive {
  readonly #socket: Socket;
  readonly #host: string;
  #settle: ((status: number | Error) => void) | undefined;
  #status = 0;
  /** Bytes of the answer that are still to come; `undefined` before its header is complete. */
  #leftBytes: number | undefined;
  #header = '';

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('close', () => this.#end(new Error('the server has closed the connection')));
    socket.on('error', (error) => this.#end(error));
  }

  static async open(url: string): Promise<KeepAlive> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new KeepAlive(socket, host);
  }

  /** Resolves with the status when the last byte of the answer is there. */
  get(path: string): Promise<number> {
    return this.#send(`GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n\r\n`);
  }

  /** As `get`, with a body of ASCII. */
  post(
    path: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const all = { Host: this.#host, 'Content-Length': body.length, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return this.#send(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  }

  #send(text: string): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) return reject(new Error('the connection has been closed'));
      this.#settle = (outcome) =>
        typeof outcome === 'number' ? resolve(outcome) : reject(outcome);
      this.#socket.write(text, 'latin1');
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    if (this.#leftBytes === undefined) {
      this.#header += chunk.toString('latin1');
      const end = this.#header.indexOf(HEADER_END);
      if (end < 0) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#header)?.[1];
      this.#status = Number(this.#header.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      if (length === undefined && this.#status !== 204)
        return this.#end(new Error('an answer without a length'));
      this.#leftBytes = Number(length ?? 0) - (this.#header.length - end - HEADER_END.length);
    } else this.#leftBytes -= chunk.length;
    if (this.#leftBytes === 0) this.#end(this.#status);
  }

  #end(outcome: number | Error): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#leftBytes = undefined;
    this.#header = '';
    settle?.(outcome);
  }
}
