// A handler's chain of actions: each action gets the events that the previous one passed on.
import { messageOf, Unavailable } from '@tidemark/core';
import { resolveSecrets } from '@tidemark/settings';
import type { Options } from '@tidemark/settings';
import type { ChainStep } from './delivery.ts';
import { PASS } from './delivery.ts';
import type { TopicEvent } from './event.ts';
import type { HandlerContext, HandlerKind, StepPosition } from './handler.ts';

/** An action whose options have been checked. */
export type CheckedAction = { readonly kind: HandlerKind; readonly options: Options };

/** Creates the step that executes an action. */
export function makeStep(action: CheckedAction, position: StepPosition): ChainStep {
  const { kind, options } = action;
  if ('makeStep' in kind) return kind.makeStep(options, position);
  const { context } = position;
  return {
    run: async ({ event }, signal) => {
      await sendOnce(action, event, { ...context, signal });
      return PASS;
    },
  };
}

/**
 * Delivers one event. Rejects as the kind of handler does; handlers that only filter deliver
 * nothing.
 */
export async function sendOnce(
  action: CheckedAction,
  event: TopicEvent,
  context: HandlerContext,
): Promise<void> {
  if ('makeStep' in action.kind) return;
  await action.kind.send(event, liveOptions(action, context), context);
}

// Looked up for every event, so that a secret may be changed at its source.
function liveOptions(
  { kind, options }: CheckedAction,
  context: Omit<HandlerContext, 'signal'>,
): Options {
  try {
    return resolveSecrets(kind.options, options, context.resolveSecret);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new Unavailable(reason, { cause });
  }
}
