// A cheap client with one connection, because a benchmark of thousands of small requests per second
// must not measure its own generator.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

const LINE_END = '\r\n';
const HEADER_END = `${LINE_END}${LINE_END}`;

const OURS = { diagnostics: 'true', chunked: 'true', chunk_size: '2000' };
const FORM = {
  'Content-Type': 'application/x-www-form-urlencoded',
  'Accept-Encoding': 'gzip, deflate, br',
};

/** Sends a query as the web application does (`packages/ui/src/api/query-stream.ts`). */
export function askAsOurs(connection: KeepAlive, query: URLSearchParams): Promise<number> {
  const form = new URLSearchParams([...query, ...Object.entries(OURS)]);
  return connection.post('/query', form.toString(), FORM);
}

/** One request at a time. */
export class KeepAlive {
  readonly #socket: Socket;
  readonly #host: string;
  #settle: ((status: number | Error) => void) | undefined;
  #status = 0;
  /** Bytes of the answer that are still to come; `undefined` before its header is complete. */
  #leftBytes: number | undefined;
  #header = '';
  /** The part of a chunked body that has not been dropped yet. */
  #chunked: string | undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('close', () => this.#end(new Error('the server has closed the connection')));
    socket.on('error', (error) => this.#end(error));
  }

  /** Over TLS for an `https` URL, whoever signed the certificate. */
  static async open(url: string): Promise<KeepAlive> {
    const { hostname, port, host, protocol } = new URL(url);
    const isSecure = protocol === 'https:';
    const socket = isSecure
      ? connectSecurely(Number(port), hostname, { rejectUnauthorized: false })
      : connect(Number(port), hostname);
    await once(socket, isSecure ? 'secureConnect' : 'connect');
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
    if (this.#chunked !== undefined) return this.#readChunked(chunk.toString('latin1'));
    if (this.#leftBytes === undefined) {
      this.#header += chunk.toString('latin1');
      const end = this.#header.indexOf(HEADER_END);
      if (end < 0) return;
      this.#status = Number(this.#header.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      if (/\r\ntransfer-encoding: chunked/i.test(this.#header.slice(0, end + 2))) {
        this.#chunked = '';
        return this.#readChunked(this.#header.slice(end + HEADER_END.length));
      }
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#header)?.[1];
      if (length === undefined && this.#status !== 204)
        return this.#end(new Error('an answer without a length'));
      this.#leftBytes = Number(length ?? 0) - (this.#header.length - end - HEADER_END.length);
    } else this.#leftBytes -= chunk.length;
    if (this.#leftBytes === 0) this.#end(this.#status);
  }

  /** Drops the chunks that are whole; the last one is empty. */
  #readChunked(text: string): void {
    let rest = `${this.#chunked}${text}`;
    for (let line = rest.indexOf(LINE_END); line >= 0; line = rest.indexOf(LINE_END)) {
      const size = Number.parseInt(rest.slice(0, line), 16);
      const end = line + LINE_END.length + size + LINE_END.length;
      if (rest.length < end) break;
      if (size === 0) return this.#end(this.#status);
      rest = rest.slice(end);
    }
    this.#chunked = rest;
  }

  #end(outcome: number | Error): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#leftBytes = undefined;
    this.#chunked = undefined;
    this.#header = '';
    settle?.(outcome);
  }
}
