// The typed clients of both services, which send requests through the page's server: one origin,
// its session, its prefix.
import { EngineClient, TsdbClient } from '@tidemark/client';

import { texts } from '../texts/texts.ts';
import { markDown, services } from './connection.ts';
import type { Service } from './connection.ts';
import { SERVER_PATH } from './paths.ts';
import { sessionToken, waitForSignIn, whenResumed } from './session.ts';

const t = texts.shell;

/** Long enough for anything a service allows a statement; leaving a page cancels earlier. */
const TIMEOUT_MS = 600_000;

/**
 * `fetch` of a path of the page's server, such as `api/import`. Renews an expired session in place
 * and sends the call again.
 */
export async function pageFetch(path: string, init: RequestInit = {}): Promise<Response> {
  await whenResumed();
  for (;;) {
    const headers = new Headers(init.headers);
    const token = sessionToken();
    if (token !== '') headers.set('X-CSRF-Token', token);
    // Services accept a body from a page only with an explicit type (docs/guide/running.md,
    // Browsers).
    const isUntyped = typeof init.body === 'string' || init.body instanceof Uint8Array;
    if (isUntyped && !headers.has('Content-Type')) {
      headers.set('Content-Type', 'application/octet-stream');
    }
    const response = await fetch(SERVER_PATH + path, { ...init, headers });
    if (response.status !== 401) return response;
    await response.body?.cancel();
    // Somebody may have signed in meanwhile: then it only has to be sent again.
    if (token === sessionToken()) await waitForSignIn(init.signal);
  }
}

/** `fetch` of a path of a service; a service that does not answer is marked as down. */
export async function serviceFetch(
  service: Service,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const response = await pageFetch(`api/${service}${path}`, init).catch((error: unknown) => {
    if (init.signal?.aborted === true) throw error;
    return undefined;
  });
  // A service that is not run here is not down.
  const isAbsent = services[service].value.state === 'absent';
  if (response !== undefined && (response.status !== 502 || isAbsent)) return response;
  await response?.body?.cancel();
  markDown(service);
  // The user needs to know what to do, not why the connection failed.
  return Response.json({ error: t.away(t[service]) }, { status: 503 });
}

const options = (service: Service) => ({
  url: location.origin,
  timeoutMs: TIMEOUT_MS,
  fetch: (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const { pathname, search } = new URL(String(input));
    return serviceFetch(service, pathname + search, init);
  },
});

export const tsdb = new TsdbClient(options('tsdb'));
export const engine = new EngineClient(options('engine'));
