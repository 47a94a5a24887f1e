// Who changed what, and who was refused: in the service log with `"audit": true`, and in a file of
// its own when there is one, whatever the level of the service log.
import { formatRfc3339 } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Logger } from 'pino';

import type { Exchange } from '../http/exchange.ts';
import { LineFile } from './line-file.ts';

/** What happened; texts without passwords. */
export type AuditDetails = Readonly<Record<string, unknown>>;

export class AuditLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #file: LineFile | undefined;

  /** Without a path, only the service log has it. */
  constructor(path: string, clock: Clock, log: Logger) {
    this.#log = log;
    this.#clock = clock;
    this.#file = path === '' ? undefined : new LineFile(path, log);
  }

  /** Something that a user did. */
  done(exchange: Exchange, event: string, details: AuditDetails): void {
    this.#log.info({ audit: true, ...who(exchange), ...details }, event);
    this.#writeLine(exchange, event, details);
  }

  /** Something that nobody was allowed to do. */
  refused(exchange: Exchange, event: string, reason: string): void {
    const details = { path: exchange.path, reason };
    this.#log.warn({ audit: true, ...who(exchange), ...details }, event);
    this.#writeLine(exchange, event, details);
  }

  #writeLine(exchange: Exchange, event: string, details: AuditDetails): void {
    if (this.#file === undefined) return;
    const time = formatRfc3339(this.#clock.now());
    const { requestId } = exchange;
    this.#file.write(JSON.stringify({ time, event, ...who(exchange), requestId, ...details }));
  }

  reopen(): void {
    this.#file?.reopen();
  }

  close(): Promise<void> {
    return this.#file?.close() ?? Promise.resolve();
  }
}

function who({ userName, remoteAddress }: Exchange): { user: string; address: string } {
  return { user: userName, address: remoteAddress };
}
