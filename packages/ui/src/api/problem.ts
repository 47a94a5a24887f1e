// Errors as the page shows them.
import type { Signal } from '@preact/signals';
import { AppError, Unavailable } from '@tidemark/core';
import type { Diagnostic } from '@tidemark/core';
import { useEffect } from 'preact/hooks';

import { generation } from './connection.ts';

export type Problem = {
  readonly message: string;
  readonly hint?: string | undefined;
  /** Position of the error in the text that was sent, if it is an error of the text. */
  readonly diagnostics?: readonly Diagnostic[] | undefined;
  /** A service did not answer. */
  readonly isUnreachable?: boolean | undefined;
};

/** Any error as a sentence with a hint. */
export function problemOf(error: unknown): Problem {
  if (error instanceof AppError) {
    const { message, diagnostics } = error;
    const hint = error.hint ?? diagnostics[0]?.hint;
    return { message, hint, diagnostics, isUnreachable: error instanceof Unavailable };
  }
  if (error instanceof Error) return { message: error.message };
  return { message: String(error) };
}

/** Whether somebody cancelled on purpose: nothing to report. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Clears the problem that a service did not answer once it answers again. */
export function useRecovery(problem: Signal<Problem | undefined>): void {
  useEffect(() => {
    let seen = generation.peek();
    return generation.subscribe((now) => {
      if (now !== seen && problem.peek()?.isUnreachable === true) problem.value = undefined;
      seen = now;
    });
  }, [problem]);
}
