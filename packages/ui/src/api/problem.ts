// Errors as the page shows them.
import { AppError } from '@tidemark/core';
import type { Diagnostic } from '@tidemark/core';

export type Problem = {
  readonly message: string;
  readonly hint?: string | undefined;
  /** Position of the error in the text that was sent, if it is an error of the text. */
  readonly diagnostics?: readonly Diagnostic[] | undefined;
};

/** Any error as a sentence with a hint. */
export function problemOf(error: unknown): Problem {
  if (error instanceof AppError) {
    const { message, diagnostics } = error;
    return { message, hint: error.hint ?? diagnostics[0]?.hint, diagnostics };
  }
  if (error instanceof Error) return { message: error.message };
  return { message: String(error) };
}

/** Whether somebody cancelled on purpose: nothing to report. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
