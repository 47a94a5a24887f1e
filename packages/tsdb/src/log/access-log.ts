// One line per request in a file of its own, in the common log format with request id and duration
// behind it.
import type { Clock } from '@tidemark/core';
import type { Logger } from 'pino';

import { LineFile } from './line-file.ts';
import type { Requester } from './requester.ts';

/** A request that has been answered. */
export type AnsweredRequest = Requester & {
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
};

export class AccessLog {
  readonly #file: LineFile;
  readonly #clock: Clock;

  constructor(path: string, clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#file = new LineFile(path, log);
  }

  /** The query string is left out: it may hold passwords and points. */
  write(answered: AnsweredRequest): void {
    const { method, path, remoteAddress, requestId, status, userName, durationMs } = answered;
    const time = new Date(Number(this.#clock.now() / 1_000_000n)).toISOString();
    const user = userName === '' ? '-' : JSON.stringify(userName).slice(1, -1);
    const request = JSON.stringify(`${method} ${path}`);
    this.#file.write(
      `${remoteAddress} - ${user} [${time}] ${request} ${status} ${requestId} ${durationMs.toFixed(3)}ms`,
    );
  }

  reopen(): void {
    this.#file.reopen();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
