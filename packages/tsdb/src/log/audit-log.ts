// Who changed what, and who was refused: in the service log with `"audit": true`, and in a file of
// its own when there is one, whatever the level of the service log.
import { formatRfc3339 } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Logger } from 'pino';

import { LineFile } from './line-file.ts';
import type { Requester } from './requester.ts';

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
  done(requester: Requester, event: string, details: AuditDetails): void {
    this.#log.info({ audit: true, ...who(requester), ...details }, event);
    this.#writeLine(requester, event, details);
  }

  /** Something that nobody was allowed to do. */
  refused(requester: Requester, event: string, reason: string): void {
    const details = { path: requester.path, reason };
    this.#log.warn({ audit: true, ...who(requester), ...details }, event);
    this.#writeLine(requester, event, details);
  }

  #writeLine(requester: Requester, event: string, details: AuditDetails): void {
    if (this.#file === undefined) return;
    const time = formatRfc3339(this.#clock.now());
    const { requestId } = requester;
    this.#file.write(JSON.stringify({ time, event, ...who(requester), requestId, ...details }));
  }

  reopen(): void {
    this.#file?.reopen();
  }

  close(): Promise<void> {
    return this.#file?.close() ?? Promise.resolve();
  }
}

function who({ userName, remoteAddress }: Requester): { user: string; address: string } {
  return { user: userName, address: remoteAddress };
}
