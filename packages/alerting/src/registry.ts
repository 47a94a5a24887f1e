// All kinds of handlers, one row each. The row is all that the service, the configuration, the service tests and the
// reference page know about a kind.
import type { HandlerKind } from './handler.ts';
import { aggregate, publish, stateChangesOnly, throttle } from './handlers/flow.ts';
import { chat } from './handlers/chat.ts';
import { exec } from './handlers/exec.ts';
import { log } from './handlers/log.ts';
import { post } from './handlers/post.ts';
import { smtp } from './handlers/smtp.ts';
import { tcp } from './handlers/tcp.ts';

export const HANDLER_KINDS: readonly HandlerKind[] = [
  aggregate,
  chat,
  exec,
  log,
  post,
  publish,
  smtp,
  stateChangesOnly,
  tcp,
  throttle,
];

const byName = new Map<string, HandlerKind>();
for (const row of HANDLER_KINDS) {
  const names = [row.kind, ...(row.aliases ?? [])];
  for (const name of names) byName.set(name.toLowerCase(), row);
}

/** The kind of that name, which may be an older one. */
export function findHandlerKind(name: string): HandlerKind | undefined {
  return byName.get(name.toLowerCase());
}
