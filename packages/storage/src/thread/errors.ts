// Errors between threads: an error is sent with its code, from which the receiver creates the
// class.
import {
  AppError,
  Cancelled,
  Conflict,
  Corruption,
  Internal,
  InvalidRequest,
  LimitExceeded,
  NotFound,
  Unavailable,
} from '@tidemark/core';

export type ErrorMessage = {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly setting?: string | undefined;
  readonly file?: string | undefined;
  readonly offset?: number | undefined;
  readonly stack?: string | undefined;
};

export function errorToMessage(error: unknown): ErrorMessage {
  if (!(error instanceof AppError)) {
    const stack = error instanceof Error ? error.stack : undefined;
    return { code: 'INTERNAL', message: String(error), stack };
  }
  const { code, message, hint } = error;
  if (error instanceof LimitExceeded) return { code, message, hint, setting: error.setting };
  if (error instanceof Corruption) {
    const { reason, file, offset } = error;
    return { code, message: reason, file, offset };
  }
  return { code, message, hint };
}

export function errorFromMessage(error: ErrorMessage): AppError {
  const { message, hint } = error;
  switch (error.code) {
    case 'INVALID_REQUEST':
      return new InvalidRequest(message, { hint });
    case 'NOT_FOUND':
      return new NotFound(message, { hint });
    case 'CONFLICT':
      return new Conflict(message, { hint });
    case 'LIMIT_EXCEEDED':
      return new LimitExceeded(message, error.setting, { hint });
    case 'UNAVAILABLE':
      return new Unavailable(message, { hint });
    case 'CORRUPTION':
      return new Corruption(message, { file: error.file ?? '', offset: error.offset ?? 0 });
    case 'CANCELLED':
      return new Cancelled(message, { hint });
    default:
      return new Internal(message, { hint, cause: error.stack });
  }
}
