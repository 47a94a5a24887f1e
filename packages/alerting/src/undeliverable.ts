// Why a valid handler cannot deliver anything with the current configuration.
import { messageOf } from '@tidemark/core';
import type { Options, SectionSpec } from '@tidemark/settings';
import type { CheckedAction } from './chain.ts';
import type { HandlerContext, HandlerKind } from './handler.ts';

/** A reason and what to do about it. */
export type Undeliverable = { readonly message: string; readonly hint: string };

/** Why an action cannot deliver any event; `undefined` when no reason is known. */
export function undeliverable(
  { kind, options }: CheckedAction,
  context: Pick<HandlerContext, 'section'>,
): Undeliverable | undefined {
  const { section } = kind;
  const id = elementOf(kind, options);
  if (section === undefined) return undefined;
  const isSwitched = 'enabled' in section.options;
  // A receiver that is named in the handler needs no section.
  if (!isSwitched && id === '') return undefined;
  const element = id === '' ? section.name : `${section.name}/${id}`;
  const message = problemOf(context, { section, id, isSwitched });
  if (message === undefined) return undefined;
  const hint = `configure ${element}, in the file or by POST config/${section.name}; until then events become dead letters`;
  return { message: `handler ${kind.kind}: ${message}`, hint };
}

function elementOf({ element }: HandlerKind, options: Options): string {
  return element === undefined ? '' : String(options[element]);
}

function problemOf(
  context: Pick<HandlerContext, 'section'>,
  {
    section,
    id,
    isSwitched,
  }: { readonly section: SectionSpec; readonly id: string; readonly isSwitched: boolean },
): string | undefined {
  let configured: Options | undefined;
  try {
    configured = context.section(section, id);
  } catch (cause) {
    // The secret no longer exists.
    return messageOf(cause);
  }
  if (configured === undefined) {
    return id === ''
      ? `no element of the section ${section.name} is the default one`
      : `the section ${section.name} has no element ${JSON.stringify(id)}`;
  }
  return isSwitched && configured['enabled'] !== true ? 'the service is not enabled' : undefined;
}
