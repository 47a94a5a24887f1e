// Maps errors to responses: the class determines the status, the error provides the text.
import {
  Conflict,
  Corruption,
  Forbidden,
  InvalidRequest,
  LimitExceeded,
  messageOf,
  NotFound,
  StaleVersion,
  Unauthorized,
  Unavailable,
} from '@tidemark/core';

/** Status and text of an error. */
export function answerOf(error: unknown): { readonly status: number; readonly message: string } {
  const message = messageOf(error);
  return { status: statusOf(error), message };
}

function statusOf(error: unknown): number {
  if (error instanceof StaleVersion) return 409;
  if (error instanceof InvalidRequest || error instanceof Conflict) return 400;
  if (error instanceof Unauthorized) return 401;
  if (error instanceof Forbidden) return 403;
  if (error instanceof NotFound) return 404;
  // A body that is too large stays so; if others use all the memory, there will be room later.
  if (error instanceof LimitExceeded) return error.setting === 'http.max-body-size' ? 413 : 429;
  if (error instanceof Unavailable) return 503;
  if (error instanceof Corruption) return 500;
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status >= 400 ? status : 500;
}
