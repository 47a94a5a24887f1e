// All implemented kinds of handlers: the service, the configuration, the service tests and the
// reference page know kinds only from here.
import type { HandlerKind } from './handler.ts';
import { DELIVERIES } from './handlers/registry.gen.ts';

/** Sorted by kind. */
export const HANDLER_KINDS: readonly HandlerKind[] = DELIVERIES.toSorted((a, b) =>
  a.kind < b.kind ? -1 : 1,
);

const byName = new Map<string, HandlerKind>();
for (const row of HANDLER_KINDS) {
  const names = [row.kind, ...(row.aliases ?? [])];
  for (const name of names) byName.set(name.toLowerCase(), row);
}

/** The kind of that name, which may be an older one. */
export function findHandlerKind(name: string): HandlerKind | undefined {
  return byName.get(name.toLowerCase());
}
