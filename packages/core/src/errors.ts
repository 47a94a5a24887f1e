// Operational errors. The class is chosen by what the caller can do about it; HTTP statuses follow
// from it.
import type { Diagnostic } from './diagnostic.ts';

export type AppErrorOptions = {
  readonly cause?: unknown;
  /** What the user can do, one sentence. */
  readonly hint?: string | undefined;
  /** Where in the user's text the fault lies, when it lies in a text. */
  readonly diagnostics?: readonly Diagnostic[] | undefined;
};

/** Base of all errors that a caller is expected to handle. Never thrown itself. */
export abstract class AppError extends Error {
  /** Stable, machine-readable class of the error. */
  abstract readonly code: string;
  readonly hint: string | undefined;
  readonly diagnostics: readonly Diagnostic[];

  constructor(message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint;
    this.diagnostics = options.diagnostics ?? [];
  }
}

/**
 * The request cannot be understood or asks for something impossible; repeating it does not help.
 */
export class InvalidRequest extends AppError {
  override readonly name = 'InvalidRequest';
  readonly code = 'INVALID_REQUEST';
}

/** The thing that the request names does not exist. */
export class NotFound extends AppError {
  override readonly name = 'NotFound';
  readonly code = 'NOT_FOUND';
}

/** The request contradicts the present state, for example a name that is taken. */
export class Conflict extends AppError {
  override readonly name = 'Conflict';
  readonly code = 'CONFLICT';
}

/** Missing or wrong credentials. */
export class Unauthorized extends AppError {
  override readonly name = 'Unauthorized';
  readonly code = 'UNAUTHORIZED';
}

/** Known user, but not allowed. */
export class Forbidden extends AppError {
  override readonly name = 'Forbidden';
  readonly code = 'FORBIDDEN';
}

/** The thing named in the request does not exist. */
export class LimitExceeded extends AppError {
  override readonly name = 'LimitExceeded';
  readonly code = 'LIMIT_EXCEEDED';
  /** The key of the configuration that raises the limit; absent where nothing does. */
  readonly setting: string | undefined;

  constructor(message: string, setting?: string, options: AppErrorOptions = {}) {
    super(message, options);
    this.setting = setting;
  }
}

/** Not possible at the moment (disk full, starting, stopping); repeating it later may work. */
export class Unavailable extends AppError {
  override readonly name = 'Unavailable';
  readonly code = 'UNAVAILABLE';
}

/** Bytes on disk are not what was written. Names file and offset. */
export class Corruption extends AppError {
  override readonly name = 'Corruption';
  readonly code = 'CORRUPTION';
  /** The message without the place. */
  readonly reason: string;
  readonly file: string;
  readonly offset: number;

  constructor(message: string, place: { readonly file: string; readonly offset: number }) {
    super(`${message}. file=\`${place.file}\` offset=${place.offset}`);
    this.reason = message;
    this.file = place.file;
    this.offset = place.offset;
  }
}

/** The caller or an operator cancelled the work. */
export class Cancelled extends AppError {
  override readonly name = 'Cancelled';
  readonly code = 'CANCELLED';
}

/** A failure whose cause lies inside Tidemark or the machine. */
export class Internal extends AppError {
  override readonly name = 'Internal';
  readonly code = 'INTERNAL';
}

/** The message of anything that was thrown, be it an `Error` or not. */
export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
