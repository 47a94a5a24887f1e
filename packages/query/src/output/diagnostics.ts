// Findings about a query text as answers carry them.
import type { Diagnostic } from '@tidemark/core';

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
