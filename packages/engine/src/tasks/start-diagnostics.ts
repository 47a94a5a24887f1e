// Explains why a task cannot start, as diagnostics about its script: the position of the mistake in
// addition to the recorded message.
import { AppError, InvalidRequest } from '@tidemark/core';
import type { Diagnostic, Span } from '@tidemark/core';
import { placeOf } from '@tidemark/pipeline';
import type { NodeSpec, Pipeline } from '@tidemark/pipeline';
import { StartError } from '@tidemark/runtime';
import { bytePosition } from '@tidemark/tickscript';
import type { SyntaxDiagnostic } from '@tidemark/tickscript';

const CODE = 'TICK_START_REFUSED';

/**
 * The diagnostics of an error of checking or starting a task; none if the script is not the cause.
 */
export function diagnosticsOf(
  error: unknown,
  task: { readonly script: string; readonly pipeline: () => Pipeline },
): readonly Diagnostic[] {
  if (error instanceof AppError && error.diagnostics.length > 0) return error.diagnostics;
  const start = error instanceof AppError ? error.cause : error;
  if (!(start instanceof StartError)) return [];
  const { nodeName, properties = [], hint } = start.details;
  const node = task.pipeline().nodes.find((each) => each.name === nodeName);
  if (node === undefined) return [];
  const { message } = start;
  return [diagnosticAt(task.script, spanOf(node, properties), { message, hint })];
}

/** The place where a script calls one of these properties of a node, or the node. */
export function spanOf(node: NodeSpec, properties: readonly string[]): Span {
  return placeOf({ span: node.span, properties: node.calls?.properties ?? [] }, { properties });
}

/**
 * Runs a check of a node that reports the property at fault. Throws `InvalidRequest` with its
 * place.
 */
export function checkStartOf(script: string, node: NodeSpec, check: () => void): void {
  try {
    check();
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause;
    const { message } = cause;
    const { properties = [], hint } = cause.details;
    const diagnostic = diagnosticAt(script, spanOf(node, properties), { message, hint });
    throw new InvalidRequest(message, { cause, hint, diagnostics: [diagnostic] });
  }
}

/** Runs a check of a piece of a script; its errors get the place of that piece. */
export function checkAt(
  at: { readonly script: string; readonly span: Span },
  check: () => void,
): void {
  try {
    check();
  } catch (cause) {
    if (!(cause instanceof InvalidRequest) || cause.diagnostics.length > 0) throw cause;
    const { message, hint } = cause;
    const diagnostic = diagnosticAt(at.script, at.span, { message, hint });
    throw new InvalidRequest(message, { cause, hint, diagnostics: [diagnostic] });
  }
}

/** A diagnostic about a place of a script. */
export function diagnosticAt(
  script: string,
  span: Span,
  what: {
    readonly message: string;
    readonly hint?: string | undefined;
    readonly code?: string | undefined;
  },
): SyntaxDiagnostic {
  const { code = CODE, message, hint } = what;
  return { code, span, ...bytePosition(script, span.start), message, hint };
}
