// An HTTP server that records requests: the receiver of alerts, the target of points, a service
// that refuses.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

import { eventually } from './http.ts';

export type ReceivedRequest = {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  /** Unpacked. */
  readonly body: string;
};

export type ServerAnswer = {
  /** 200 by default. */
  readonly status?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  /** Cuts the connection instead. */
  readonly isCut?: boolean | undefined;
};

export class TestServer {
  /** In the order in which they were completed. */
  readonly requests: ReceivedRequest[] = [];
  /** Returns the response; may be changed at any time. */
  answer: (request: ReceivedRequest) => ServerAnswer | Promise<ServerAnswer>;
  readonly #waiting: (() => void)[] = [];
  readonly #server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const sent = Buffer.concat(chunks);
      const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      void this.#take({ method, path, headers, body: bytes.toString('utf8') }, response);
    });
  });

  constructor(answer: TestServer['answer'] = () => ({})) {
    this.answer = answer;
  }

  /**
   * Listens on a free port of loopback, or again on its previous one, as soon as no connection of
   * another test uses that.
   */
  async open(port = 0): Promise<void> {
    await eventually('the port', () => this.#listen(port));
  }

  /** Whether it listens now; `undefined` when the port is in use. */
  async #listen(port: number): Promise<true | undefined> {
    const listening = once(this.#server, 'listening');
    this.#server.listen(port, '127.0.0.1');
    try {
      await listening;
      return true;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
      throw cause;
    }
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Without a slash at the end. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Resolves when the condition holds; checked when a request arrives and when it is answered. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: ReceivedRequest, response: http.ServerResponse): Promise<void> {
    this.requests.push(request);
    this.#wake();
    const { status = 200, headers = {}, body, isCut } = await this.answer(request);
    if (isCut === true) response.destroy();
    else response.writeHead(status, headers).end(body);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
