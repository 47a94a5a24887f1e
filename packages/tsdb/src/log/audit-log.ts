// Records who changed what, and who was refused: in the service log with `"audit": true`, in the
// audit record of the data directory, and in a separate file if configured; the last two regardless
// of the log level.
import { formatRfc3339 } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { AuditEntry, AuditRecord } from '@tidemark/process';
import type { Logger } from 'pino';

import { LineFile } from './line-file.ts';
import type { Requester } from './requester.ts';

/** Details of an event; texts without passwords. */
export type AuditDetails = Readonly<Record<string, unknown>>;

export type AuditLogOptions = {
  /** Path of a separate file; empty for none. */
  readonly path: string;
  /** Owned by this log from here on. */
  readonly record: AuditRecord | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

export class AuditLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #file: LineFile | undefined;
  /** The record to query; absent if nothing is recorded. */
  readonly record: AuditRecord | undefined;

  constructor({ path, record, clock, log }: AuditLogOptions) {
    this.#log = log;
    this.#clock = clock;
    this.#file = path === '' ? undefined : new LineFile(path, log);
    this.record = record;
  }

  /** Records an action of a user. */
  done(requester: Requester, event: string, details: AuditDetails): void {
    this.#log.info({ audit: true, ...who(requester), ...details }, event);
    this.record?.add(this.#written(requester, event, details));
  }

  /** Records a refused action. */
  refused(requester: Requester, event: string, reason: string): void {
    const details = { path: requester.path, reason };
    this.#log.warn({ audit: true, ...who(requester), ...details }, event);
    this.record?.addRefusal(this.#written(requester, event, details));
  }

  /** An entry as written to the separate file. */
  #written(requester: Requester, event: string, details: AuditDetails): AuditEntry {
    const time = formatRfc3339(this.#clock.now());
    const { requestId } = requester;
    const entry = { time, event, ...who(requester), requestId, ...details };
    this.#file?.write(JSON.stringify(entry));
    return entry;
  }

  reopen(): void {
    this.#file?.reopen();
  }

  async close(): Promise<void> {
    await this.record?.close();
    await this.#file?.close();
  }
}

function who({ userName, remoteAddress }: Requester): { user: string; address: string } {
  return { user: userName, address: remoteAddress };
}
