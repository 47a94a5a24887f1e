// The error of a request that was cancelled.
import { AppError, Cancelled } from '@tidemark/core';

/**
 * The reason that the signal was aborted with: KILL QUERY, a time limit and a shutdown each give
 * their own.
 */
export function cancelledBy(signal: AbortSignal): AppError {
  const reason: unknown = signal.reason;
  if (reason instanceof AppError) return reason;
  return new Cancelled('request was cancelled', { cause: reason });
}
