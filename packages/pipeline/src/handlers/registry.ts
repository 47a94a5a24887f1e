// All handlers that the alert node takes as properties. A name of a script is found with its first
// letter in either case.
import type { HandlerRow } from '../definition/handler-definition.ts';
import { CHAT_HANDLERS } from './chat-handlers.ts';
import { INCIDENT_HANDLERS } from './incident-handlers.ts';
import { TRANSPORT_HANDLERS } from './transport-handlers.ts';

/** Sorted by name. */
export const HANDLERS: readonly HandlerRow[] = [
  ...CHAT_HANDLERS,
  ...INCIDENT_HANDLERS,
  ...TRANSPORT_HANDLERS,
].sort((a, b) => (a.name < b.name ? -1 : 1));

/** The handler with this name in scripts. */
export function findHandler(name: string): HandlerRow | undefined {
  return HANDLERS.find((each) => each.name === name || each.aliases.includes(name));
}
