// One line per request: in its own file in the common log format, followed by request id and
// duration, or without such a file in the service log at level debug.
import type { Clock } from '@tidemark/core';
import type { Logger } from 'pino';

import { LineFile } from './line-file.ts';
import type { Requester } from './requester.ts';

/** The outcome of a request. */
export type Answered = { readonly status: number; readonly durationMs: number };

export type AccessLogOptions = {
  /** Path of the file; empty for the service log. */
  readonly path: string;
  /** Requests to these paths are not logged. */
  readonly except: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
};

export class AccessLog {
  readonly #options: AccessLogOptions;
  readonly #file: LineFile | undefined;

  constructor(options: AccessLogOptions) {
    this.#options = options;
    this.#file = options.path === '' ? undefined : new LineFile(options.path, options.log);
  }

  /** The query string is left out: it may contain passwords and points. */
  write(
    { method, path, remoteAddress, requestId, userName }: Requester & { readonly method: string },
    { status, durationMs }: Answered,
  ): void {
    const { clock, except, log } = this.#options;
    if (except.includes(path)) return;
    if (this.#file === undefined) {
      if (!log.isLevelEnabled('debug')) return;
      log.debug(
        {
          requestId,
          method,
          path,
          status,
          address: remoteAddress,
          user: userName,
          durationMs: Math.round(durationMs * 1000) / 1000,
        },
        'request',
      );
      return;
    }
    const time = new Date(Number(clock.now() / 1_000_000n)).toISOString();
    const user = userName === '' ? '-' : JSON.stringify(userName).slice(1, -1);
    const request = JSON.stringify(`${method} ${path}`);
    this.#file.write(
      `${remoteAddress} - ${user} [${time}] ${request} ${status} ${requestId} ${durationMs.toFixed(3)}ms`,
    );
  }

  reopen(): void {
    this.#file?.reopen();
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
