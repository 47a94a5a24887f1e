// All kinds of handlers, and those that the alert node accepts as properties. The first letter of
// names in scripts may have either case.
import { HANDLER_DEFINITIONS } from '../handlers/registry.gen.ts';
import type { HandlerRow } from './handler-definition.ts';

/** Sorted by name. */
export const HANDLERS: readonly HandlerRow[] = HANDLER_DEFINITIONS.map(({ script }) => script)
  .filter((row) => row !== undefined)
  .sort((a, b) => (a.name < b.name ? -1 : 1));

/** The handler with this name in scripts. */
export function findHandler(name: string): HandlerRow | undefined {
  return HANDLERS.find((each) => each.name === name || each.aliases.includes(name));
}
