// A connection without a network: requests go to a Node HTTP server as if they had come by a
// socket.
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { Duplex } from 'node:stream';

/** Sends requests one after the other and forgets what is answered. The server listens nowhere. */
export class RehearsalConnection {
  readonly #socket: Duplex;
  #answered: (status: number) => void = () => undefined;

  constructor(listener: RequestListener) {
    const server = createServer((request, response) => {
      response.once('close', () => this.#answered(response.statusCode));
      listener(request, response);
    });
    this.#socket = new Duplex({
      read: () => undefined,
      write: (_bytes, _encoding, done) => done(),
      writev: (_chunks, done) => done(),
    });
    server.emit('connection', this.#socket);
  }

  /** Resolves with the status when the answer is complete. */
  get(path: string): Promise<number> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#socket.push(`GET ${path} HTTP/1.1\r\nHost: rehearsal\r\n\r\n`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}
