// Diagnostics about a query text in responses.
import { AppError, LimitExceeded } from '@tidemark/core';
import type { Diagnostic, Span } from '@tidemark/core';

import { UnsupportedFloat } from './number-text.ts';

/** `position` and `length` count UTF-16 code units of the text that was sent. */
export type DiagnosticDocument = {
  readonly code: string;
  readonly message: string;
  readonly position: number;
  readonly length: number;
  readonly hint?: string | undefined;
};

export function diagnosticDocument({ code, message, span, hint }: Diagnostic): DiagnosticDocument {
  const document = { code, message, position: span.start, length: span.end - span.start };
  return hint === undefined ? document : { ...document, hint };
}

/** The finding with its place in another text: `offsetInText` converts a start or an end. */
export function relocated(
  offsetInText: ((offset: number) => number) | undefined,
  finding: Diagnostic,
): Diagnostic {
  if (offsetInText === undefined) return finding;
  const { start, end } = finding.span;
  return { ...finding, span: { start: offsetInText(start), end: offsetInText(end) } };
}

/** The findings of an error; an error without any concerns the whole statement. */
export function faultsOf(cause: unknown, span: Span | undefined): readonly Diagnostic[] {
  if (cause instanceof AppError) return located(cause, span);
  if (!(cause instanceof UnsupportedFloat) || span === undefined) return [];
  return [{ code: 'UNSUPPORTED_FLOAT', message: cause.message, span }];
}

/** The findings of an error, or the error itself as a finding about the text at `span`. */
export function located(error: AppError, span: Span | undefined): readonly Diagnostic[] {
  if (error.diagnostics.length > 0 || span === undefined) return error.diagnostics;
  return [{ code: error.code, message: error.message, span, hint: hintOf(error) }];
}

function hintOf(error: AppError): string | undefined {
  if (error.hint !== undefined || !(error instanceof LimitExceeded)) return error.hint;
  return error.setting === undefined ? 'ask for less' : `ask for less, or raise ${error.setting}`;
}
