// Translates errors of ClickHouse and of connections into errors that a caller can act on.
import {
  AppError,
  Cancelled,
  Internal,
  LimitExceeded,
  messageOf,
  Unavailable,
} from '@tidemark/core';

/** A statement failed or its outcome is unknown; another replica may be tried. */
export class Unreachable extends Unavailable {}

const MEMORY_LIMIT = '241';
const TIMEOUT = new Set(['159', '160']);
/**
 * Errors of replication, quorum and ZooKeeper; too many parts, read-only tables, too many queries.
 */
const RETRY = new Set([
  '202',
  '225',
  '242',
  '252',
  '254',
  '265',
  '285',
  '286',
  '289',
  '292',
  '319',
  '999',
]);

/** Of a replica whose session with ZooKeeper has just begun; its code, 164, has other meanings. */
const INACTIVE = /Replica is not active right now/;

/** A definition that some nodes have not run yet; the DDL queue keeps it for them. */
export class Queued extends Unreachable {}
const QUEUED = /DB::Exception: Watching task .* is executing longer than/;

/** ClickHouse's error code, which the client does not find in every message. */
function codeOf(cause: unknown): string | undefined {
  return (
    /^Code: (\d+)/.exec(messageOf(cause))?.[1] ?? (cause as { code?: string } | undefined)?.code
  );
}

/** ClickHouse's error code of an error that was translated. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof AppError ? codeOf(error.cause) : undefined;
}

/** Whether a requested path is not in ZooKeeper. */
export function isAbsentPath(error: unknown): boolean {
  return errorCode(error) === '999' && /No node/.test(messageOf(error));
}

/** Translates the error of a response. */
export function failureOf(cause: unknown, url: string): AppError {
  const code = codeOf(cause);
  const message = messageOf(cause).split('\n')[0] ?? '';
  if (QUEUED.test(message)) return new Queued(message, { cause });
  // ClickHouse's codes are numbers; names such as ECONNRESET are Node's.
  if (code === undefined || !/^\d+$/.test(code)) {
    return new Unreachable(`ClickHouse cannot be reached. url=\`${url}\` reason=\`${message}\``, {
      cause,
    });
  }
  if (code === MEMORY_LIMIT)
    return new LimitExceeded(
      `query-memory-limit exceeded on the cluster: ${message}`,
      'coordinator.query-memory-limit',
      { cause },
    );
  if (TIMEOUT.has(code))
    return new LimitExceeded(
      `query-timeout limit exceeded on the cluster: ${message}`,
      'coordinator.query-timeout',
      { cause },
    );
  if (RETRY.has(code) || INACTIVE.test(message))
    return new Unreachable(`ClickHouse cannot do that now. url=\`${url}\` reason=\`${message}\``, {
      cause,
    });
  return new Internal(`ClickHouse refuses a statement. code=${code} reason=\`${message}\``, {
    cause,
  });
}

/**
 * The reason of the signal if it is an error of ours: KILL QUERY, time limits and shutdowns have
 * their own messages.
 */
export function cancelledBy({ reason }: AbortSignal): AppError {
  if (reason instanceof AppError) return reason;
  return new Cancelled('request was cancelled', { cause: reason });
}
