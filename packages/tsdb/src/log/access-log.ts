// One line per request in a file of its own, in the common log format with request id and duration
// behind it.
import type { Clock } from '@tidemark/core';
import type { Logger } from 'pino';

import type { Exchange } from '../http/exchange.ts';
import { LineFile } from './line-file.ts';

export class AccessLog {
  readonly #file: LineFile;
  readonly #clock: Clock;

  constructor(path: string, clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#file = new LineFile(path, log);
  }

  /** The query string is left out: it may hold passwords and points. */
  write(exchange: Exchange, durationMs: number): void {
    const { method, path, remoteAddress, requestId, response, userName } = exchange;
    const time = new Date(Number(this.#clock.now() / 1_000_000n)).toISOString();
    const user = userName === '' ? '-' : JSON.stringify(userName).slice(1, -1);
    const request = JSON.stringify(`${method} ${path}`);
    this.#file.write(
      `${remoteAddress} - ${user} [${time}] ${request} ${response.statusCode} ${requestId} ${durationMs.toFixed(3)}ms`,
    );
  }

  reopen(): void {
    this.#file.reopen();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
