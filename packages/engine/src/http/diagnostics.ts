// Diagnostics about a text in responses of the API, if `diagnostics=true` requests them.
import type { Diagnostic } from '@tidemark/core';
import type { QueryParams } from '../formats/params.ts';

/** Whether a request asks for the places of faults in its text. */
export function wantsDiagnostics(query: QueryParams): boolean {
  return query.get('diagnostics') === 'true';
}

/** `position` and `length` replace the span; other properties of a diagnostic are kept. */
export function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  redact: (text: string) => string,
): readonly Readonly<Record<string, unknown>>[] {
  return diagnostics.map(({ message, span, ...rest }) => ({
    ...redacted(rest, redact),
    message: redact(message),
    position: span.start,
    length: span.end - span.start,
  }));
}

function redacted(
  rest: Omit<Diagnostic, 'message' | 'span'>,
  redact: (text: string) => string,
): Readonly<Record<string, unknown>> {
  const hide = (value: unknown): unknown =>
    typeof value === 'string' ? redact(value) : Array.isArray(value) ? value.map(hide) : value;
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, hide(value)]));
}
