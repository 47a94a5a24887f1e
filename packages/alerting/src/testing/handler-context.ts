// The environment of handlers in tests: real requests and connections, one section, templates of
// plain names.
import { systemClock } from '@tidemark/core';

import { ALLOW_EVERYTHING } from '@tidemark/settings';
import type { HandlerContext } from '../handler.ts';

type Needed = 'section' | 'http' | 'connections';

/**
 * A context that permits everything, drops published events and times out after 20 s. `{{ .Name }}`
 * is replaced, which is enough to recognise templates.
 */
export function handlerContext(
  given: Pick<HandlerContext, Needed> & Partial<HandlerContext>,
): HandlerContext {
  return {
    clock: systemClock(),
    render: (template, scope) =>
      template.replaceAll(/\{\{ \.(\w+) \}\}/g, (_all, name: string) => String(scope[name] ?? '')),
    checkTemplate: () => undefined,
    publish: () => undefined,
    access: ALLOW_EVERYTHING,
    resolveSecret: (text) => text,
    server: { hostname: 'h', url: 'http://h:9092', product: 'tidemark' },
    signal: AbortSignal.timeout(20_000),
    ...given,
  };
}
