// How commands end: an exit status and a sentence, never a stack trace.
import type { ScriptDiagnostic } from '@tidemark/client';
import { AppError } from '@tidemark/core';

/** 0 done, 1 failed, 2 wrong usage or configuration. */
export const ExitStatus = { Ok: 0, Failed: 1, Usage: 2 } as const;
export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus];

/** Wrong arguments or configuration: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * The text to print for an error that ends a command. Bugs show their stack, everything else one
 * sentence.
 */
export function describeError(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (error instanceof AppError) {
    const hint = error.hint === undefined ? '' : `\n${error.hint}`;
    return `${error.message}${hint}${describeFindings(error.diagnostics, error.message)}`;
  }
  if (error instanceof Error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === undefined ? (error.stack ?? error.message) : error.message;
  }
  return String(error);
}

/** Findings whose message already says what was expected. */
const SAYING_WHAT_IS_EXPECTED = new Set(['TICK_UNEXPECTED_TOKEN', 'TICK_INVALID_TOKEN']);

function misfitOf({ found, expected = [] }: ScriptDiagnostic): string {
  if (found === undefined || expected.length === 0) return '';
  return `found ${found}, expected ${expected.join(' or ')}`;
}

/**
 * The errors of a script with their hints, one line each, each preceded by a line break. A text
 * with which `reported` ends is not repeated.
 */
export function describeFindings(findings: readonly ScriptDiagnostic[], reported: string): string {
  return findings
    .map((finding) => {
      const { message, line, column, hint } = finding;
      const place = line === undefined ? '' : `line ${line}, column ${column}: `;
      const misfit = SAYING_WHAT_IS_EXPECTED.has(finding.code) ? '' : misfitOf(finding);
      const parts = [reported.endsWith(message) ? '' : message, misfit, hint ?? ''];
      const text = parts.filter((part) => part !== '').join('; ');
      return text === '' ? '' : `\n  ${place}${text}`;
    })
    .join('');
}

/** The exit status for an error. */
export function exitStatusOf(error: unknown): ExitStatus {
  return error instanceof UsageError ? ExitStatus.Usage : ExitStatus.Failed;
}
