// The current page and its parameters: `…/ui/<page>?<parameters>`. Pages are exactly one level
// below `ui/`, so that relative addresses of files and services are the same on every page.
import { signal } from '@preact/signals';

import { BASE_PATH } from '../api/paths.ts';

export type Route = { readonly page: string; readonly params: URLSearchParams };

const readRoute = (): Route => ({
  page: decodeURIComponent(location.pathname.slice(BASE_PATH.length)),
  params: new URLSearchParams(location.search),
});

export const route = signal<Route>(readRoute());

export type Params = Readonly<Record<string, string | undefined>>;

/** Address of a page. Empty parameters are left out. */
export function hrefOf(page: string, params: Params = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') search.set(name, value);
  }
  const query = search.toString();
  return BASE_PATH + encodeURIComponent(page) + (query === '' ? '' : `?${query}`);
}

/** Shows a page, like following a link to it. */
export function navigate(page: string, params: Params = {}): void {
  history.pushState(null, '', hrefOf(page, params));
  route.value = readRoute();
  window.scrollTo(0, 0);
}

/**
 * Changes parameters of the current page. The address describes the view, and "back" leaves the
 * page.
 */
export function setParams(changed: Params): void {
  const { page, params } = readRoute();
  const next = { ...Object.fromEntries(params), ...changed };
  const href = hrefOf(page, next);
  if (href === location.pathname + location.search) return;
  history.replaceState(null, '', href);
  route.value = readRoute();
}

/** Follows "back" and "forward". */
export function startRouter(): void {
  window.addEventListener('popstate', () => {
    route.value = readRoute();
  });
}
