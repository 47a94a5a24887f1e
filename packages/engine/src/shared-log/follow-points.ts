// Follows the log of points continuously, and reconnects when the connection fails.
import { messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { LogRecord, SharedLog } from '@tidemark/cluster';
import type { Logger } from '../observability/log-hub.ts';

export type FollowOptions = {
  readonly log: Pick<SharedLog, 'read'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Number of the last record that was taken. */
  readonly last: () => number;
  readonly take: (record: LogRecord) => Promise<void> | void;
};

/** Pause after a failed read; the coordinator may be unreachable. */
const RETRY_MS = 200;

/** Takes records one after another, starting after the last one. Never rejects. */
export async function followPoints(options: FollowOptions): Promise<void> {
  const { log, clock, logger, signal, last, take } = options;
  while (!signal.aborted) {
    try {
      for await (const record of log.read({ first: last() + 1, signal }))
        if (record.sequence > last()) await take(record);
    } catch (error) {
      if (signal.aborted) return;
      logger('warn', 'failed to read the log of points', { err: messageOf(error) });
      await clock.sleep(RETRY_MS, signal).catch(() => undefined);
    }
  }
}
