// The typed clients of both services, sent through the server of the page: one origin, its session,
// its prefix.
import { EngineClient, TsdbClient } from '@tidemark/client';

import { noteDown, services } from './connection.ts';
import type { Service } from './connection.ts';
import { SERVER_PATH } from './paths.ts';
import { sessionToken, waitForSignIn, whenResumed } from './session.ts';

/** Long enough for what a service lets a statement take; a page that is left cancels before. */
const TIMEOUT_MS = 600_000;

/**
 * `fetch` of a path of a service. An expired session is renewed in place, and the call sent again.
 */
export async function serviceFetch(
  service: Service,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  await whenResumed();
  for (;;) {
    const headers = new Headers(init.headers);
    const token = sessionToken();
    if (token !== '') headers.set('X-CSRF-Token', token);
    // Of a page services take no body without a type of its own (docs/guide/running.md, Browsers).
    if (typeof init.body === 'string' && !headers.has('Content-Type')) {
      headers.set('Content-Type', 'application/octet-stream');
    }
    const answer = fetch(`${SERVER_PATH}api/${service}${path}`, { ...init, headers });
    const response = await answer.catch((error: unknown) => {
      if (init.signal?.aborted !== true) noteDown(service);
      throw error;
    });
    const isGone = response.status === 502 && services[service].value.state !== 'absent';
    if (isGone) noteDown(service);
    if (response.status !== 401) return response;
    await response.body?.cancel();
    // Somebody may have signed in while this was on its way: then it only has to be sent again.
    if (token === sessionToken()) await waitForSignIn(init.signal);
  }
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
