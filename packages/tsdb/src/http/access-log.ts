// One line per request in a file of its own, in the common log format with request id and duration behind it.
import { createWriteStream } from 'node:fs';
import type { WriteStream } from 'node:fs';

import type { Clock } from '@tidemark/core';
import type { Logger } from 'pino';

import type { Exchange } from './exchange.ts';

export class AccessLog {
  readonly #stream: WriteStream;
  readonly #clock: Clock;

  /** Appends to a file; a file that can not be written is said once, in the service log. */
  constructor(path: string, clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#stream = createWriteStream(path, { flags: 'a' });
    this.#stream.on('error', (error) => log.error({ err: error, path }, 'access log failed'));
  }

  /** The query string is left out: it may hold passwords and points. */
  write(exchange: Exchange, durationMs: number): void {
    const { method, path, remoteAddress, requestId, response, userName } = exchange;
    const time = new Date(Number(this.#clock.now() / 1_000_000n)).toISOString();
    const user = userName === '' ? '-' : JSON.stringify(userName).slice(1, -1);
    const request = JSON.stringify(`${method} ${path}`);
    this.#stream.write(
      `${remoteAddress} - ${user} [${time}] ${request} ${response.statusCode} ${requestId} ${durationMs.toFixed(3)}ms\n`,
    );
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#stream.destroyed) resolve();
      else this.#stream.end(() => resolve());
    });
  }
}
