// Handlers of scripts: the pipeline has already converted `.slack().channel('#ops')` to a kind and
// options.
import { InvalidRequest } from '@tidemark/core';
import type { HandlerSpec as ScriptHandler } from '@tidemark/pipeline';
import { HIDDEN, decodeOptions, findHidden, resolveSecrets } from '@tidemark/settings';
import type { AccessPolicy } from '@tidemark/settings';
import type { CheckedAction } from './chain.ts';
import type { HandlerContext, HandlerKind } from './handler.ts';
import { findHandlerKind } from './registry.ts';

/**
 * Checks a kind with its options, of a script or of a topic handler. Throws `InvalidRequest` with
 * the mistake.
 */
export function checkAction(
  name: string,
  given: unknown,
  context: Omit<HandlerContext, 'signal'>,
): CheckedAction {
  const kind = findHandlerKind(name);
  if (kind === undefined)
    throw new InvalidRequest(`unsupported action kind ${JSON.stringify(name)}`);
  const decoded = decodeOptions(kind.options, kind.kind, given);
  if (!decoded.ok) throw new InvalidRequest(decoded.reason);
  for (const [option, { isTemplate }] of Object.entries(kind.options)) {
    if (isTemplate !== true) continue;
    const broken = context.checkTemplate(option, String(decoded.options[option]));
    if (broken !== undefined) {
      throw new InvalidRequest(`failed to create ${kind.kind} handler: ${broken}`);
    }
  }
  const hidden = findHidden(decoded.options);
  if (hidden !== undefined) {
    throw new InvalidRequest(
      `option '${hidden}' of a ${kind.kind} handler is ${HIDDEN}, which replaces a secret that is not shown; write the secret, env:NAME or file:/path`,
    );
  }
  const options = resolveSecrets(kind.options, decoded.options, context.resolveSecret);
  const problem = kind.validate?.(options, { ...context, signal: AbortSignal.abort() });
  if (problem !== undefined) throw new InvalidRequest(problem);
  const [refusal] = refusedReach(kind, options, context.access);
  if (refusal !== undefined) throw new InvalidRequest(refusal);
  return { kind, options: decoded.options };
}

/** Why programs and files of an action are not permitted. */
export function refusedReach(
  { options: table }: Pick<HandlerKind, 'options'>,
  options: Readonly<Record<string, unknown>>,
  access: AccessPolicy,
): readonly string[] {
  return Object.entries(table).flatMap(([name, { reaches }]) => {
    const value = String(options[name] ?? '');
    if (reaches === 'program') return access.refuseProgram(value) ?? [];
    return (reaches === 'file' ? access.refuseFile(value) : undefined) ?? [];
  });
}

/** Checks a handler in a script. */
export function checkScriptHandler(
  handler: ScriptHandler,
  context: Omit<HandlerContext, 'signal'>,
): CheckedAction {
  return checkAction(handler.kind, handler.options, context);
}
