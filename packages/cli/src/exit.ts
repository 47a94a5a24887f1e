// How commands end: a status and a sentence, never a stack.
import type { ScriptDiagnostic } from '@tidemark/client';
import { AppError } from '@tidemark/core';

/** 0 done, 1 failed, 2 wrong usage or configuration. */
export const ExitStatus = { Ok: 0, Failed: 1, Usage: 2 } as const;
export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus];

/** Wrong arguments or configuration: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What to print for an error that ends a command. Bugs show their stack, everything else one sentence. */
export function describeError(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (error instanceof AppError) {
    const hint = error.hint === undefined ? '' : `\n${error.hint}`;
    return `${error.message}${hint}${describeFindings(error)}`;
  }
  if (error instanceof Error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === undefined ? (error.stack ?? error.message) : error.message;
  }
  return String(error);
}

/** Where a script is wrong and what to write instead, one line for each finding. */
function describeFindings({ message, diagnostics }: AppError): string {
  return diagnostics
    .map((finding: ScriptDiagnostic) => {
      const { line, column, hint } = finding;
      const place = line === undefined ? '' : `line ${line}, column ${column}: `;
      // The first one is the error itself.
      const isTold = message.endsWith(finding.message);
      const parts = [isTold ? '' : finding.message, hint ?? ''].filter((part) => part !== '');
      return parts.length === 0 ? '' : `\n  ${place}${parts.join('; ')}`;
    })
    .join('');
}

/** The exit status that belongs to an error. */
export function exitStatusOf(error: unknown): ExitStatus {
  return error instanceof UsageError ? ExitStatus.Usage : ExitStatus.Failed;
}
