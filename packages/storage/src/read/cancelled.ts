// Why a request ends early: for the reason that whoever ended it gave.
import { AppError, Cancelled } from '@tidemark/core';

/**
 * The error of a request whose signal is aborted: KILL QUERY, a time limit and a shutdown have
 * texts of their own.
 */
export function cancelledBy(signal: AbortSignal): AppError {
  const reason: unknown = signal.reason;
  if (reason instanceof AppError) return reason;
  return new Cancelled('request was cancelled', { cause: reason });
}
