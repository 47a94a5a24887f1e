// What went wrong, as the page shows it.
import { AppError } from '@tidemark/core';

export type Problem = { readonly message: string; readonly hint?: string | undefined };

/** Any error as a sentence with a hint. */
export function problemOf(error: unknown): Problem {
  if (error instanceof AppError) return { message: error.message, hint: error.hint };
  if (error instanceof Error) return { message: error.message };
  return { message: String(error) };
}

/** Whether somebody ended it on purpose: nothing to tell. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
