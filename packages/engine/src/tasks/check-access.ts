// Checks, before a task starts, that its script uses only permitted programs, files and secrets of
// the machine.
import { fileURLToPath } from 'node:url';
import { InvalidRequest } from '@tidemark/core';
import { findHandlerKind, refusedReach } from '@tidemark/alerting';
import { effectsOf } from '@tidemark/pipeline';
import type { HandlerSpec, Pipeline } from '@tidemark/pipeline';
import { isReference, isSecretHeader, resolveSecrets } from '@tidemark/settings';
import type { AccessPolicy, Options } from '@tidemark/settings';
import { scriptHandlersOf } from './script-handlers.ts';

/**
 * Refuses a script whose handlers, sources or secrets are not permitted, with a sentence. Throws
 * `InvalidRequest`.
 */
export function checkAccess(pipeline: Pipeline, access: AccessPolicy): void {
  const reasons = pipeline.nodes.flatMap((node) => {
    const { sendsHeaders, readsFolder } = effectsOf(node);
    const isFolder = readsFolder !== undefined && URL.canParse(readsFolder);
    return [
      ...refusedHeaders(sendsHeaders ?? new Map(), access),
      isFolder ? access.refuseFile(fileURLToPath(readsFolder)) : undefined,
    ];
  });
  for (const handler of scriptHandlersOf(pipeline)) {
    const kind = findHandlerKind(handler.kind);
    reasons.push(...referencesOf(handler).map(access.refuseSecret));
    if (kind !== undefined) reasons.push(...refusedReach(kind, handler.options ?? {}, access));
  }
  const reason = reasons.find((each) => each !== undefined);
  if (reason !== undefined) throw new InvalidRequest(reason);
}

function refusedHeaders(
  headers: ReadonlyMap<string, string>,
  access: AccessPolicy,
): readonly (string | undefined)[] {
  return [...headers]
    .filter(([name, value]) => isSecretHeader(name) && isReference(value))
    .map(([, value]) => access.refuseSecret(value));
}

/** References to secrets among the options of a handler. Other checks of the options come later. */
function referencesOf({ kind, options }: HandlerSpec): readonly string[] {
  const references: string[] = [];
  resolveSecrets(findHandlerKind(kind)?.options ?? {}, (options ?? {}) as Options, (text) => {
    if (isReference(text)) references.push(text);
    return text;
  });
  return references;
}
