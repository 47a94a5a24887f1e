// Errors of a full or failing disk. The operation may succeed when it is retried later.
import { Unavailable } from '@tidemark/core';

const FULL: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
const FAILING: ReadonlySet<unknown> = new Set(['EIO', 'EROFS']);

/** Whether an error, or one of its causes, means that the disk is full. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, FULL);
}

/** Describes the error for people. */
export function diskReason(error: unknown): string {
  return isDiskFull(error) ? 'no space left on device' : String(error);
}

/**
 * Wraps an error of the disk in `Unavailable`, naming the operation; returns other errors
 * unchanged.
 */
export function withDiskReason(what: string, error: unknown): unknown {
  if (!isDiskFull(error) && !hasCode(error, FAILING)) return error;
  return new Unavailable(`${what}: ${diskReason(error)}`, { cause: error });
}

function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (codes.has((at as NodeJS.ErrnoException).code)) return true;
  }
  return false;
}
