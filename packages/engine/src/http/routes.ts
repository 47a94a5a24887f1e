// The layout of the API's paths: base paths, equivalent paths, and the methods of a path.
/** The setting named in the error when the server cannot listen. */
export const BIND_SETTING = 'http.bind-address (--bind, with `up` --engine-bind)';

/** Base path of stable endpoints. */
export const BASE = '/engine/v1';
/** Base path of endpoints in preview; everything stable is served here too. */
export const PREVIEW = '/engine/v1preview';

/** Base path under which existing clients look for the API. */
const COMPATIBLE_BASE = '/kapacitor/v1';

export type RewrittenUrl = {
  /** The URL that routes match. */
  readonly url: string;
  /** The start of links in the answer: `/engine`, or `/kapacitor` under the compatible base. */
  readonly product: string;
};

/**
 * Maps a request's URL to the one its route is registered under. Preview paths reach stable
 * endpoints, and with `hasCompatiblePaths` the compatible base path reaches all.
 */
export function rewriteUrl(url: string, hasCompatiblePaths: boolean): RewrittenUrl {
  let target = url;
  let product = '/engine';
  if (hasCompatiblePaths && url.startsWith(COMPATIBLE_BASE)) {
    target = `${BASE}${url.slice(COMPATIBLE_BASE.length)}`;
    product = '/kapacitor';
    // Kapacitor serves alerts under both of its base paths.
    if (target.startsWith(`${BASE}/alerts`)) target = `${PREVIEW}${target.slice(BASE.length)}`;
  }
  const isStable =
    target.startsWith(`${PREVIEW}/`) && !PREVIEW_ONLY.some((path) => target.startsWith(path));
  if (isStable) target = `${BASE}${target.slice(PREVIEW.length)}`;
  return { url: target, product };
}

/** Whether a URL is an endpoint for writes. */
export function isWritePath(url: string, hasCompatiblePaths: boolean): boolean {
  const [path] = rewriteUrl(url, hasCompatiblePaths).url.split('?');
  return path === '/write' || path === `${BASE}/write`;
}

/** Whether a URL is a ping. */
export function isPingPath(url: string, hasCompatiblePaths: boolean): boolean {
  const [path] = rewriteUrl(url, hasCompatiblePaths).url.split('?');
  return path === '/ping' || path === `${BASE}/ping`;
}

/** Whether a request used the base path of Kapacitor, whose clients expect its behaviour. */
export function isKapacitorPath({ base }: { readonly base: string }): boolean {
  return base.startsWith('/kapacitor/');
}

const PREVIEW_ONLY = [`${PREVIEW}/alerts`, `${PREVIEW}/logs`];

/** An escaped path: ids and names are escaped, other segments are left as they are. */
export function pathTo(base: string, ...segments: readonly string[]): string {
  // A colon is literal in a path, and ids of topics have many.
  const escaped = segments.map((segment) => encodeURIComponent(segment).replaceAll('%3A', ':'));
  return [base, ...escaped].join('/');
}

/**
 * Remembers the existing routes, to distinguish an unknown path from a wrong method and to list
 * them.
 */
export class RouteTable {
  readonly #methods = new Map<string, Set<string>>();

  add(method: string, path: string): void {
    const methods = this.#methods.get(path) ?? new Set();
    methods.add(method);
    this.#methods.set(path, methods);
  }

  /** Methods of the route that a path belongs to. */
  methodsOf(path: string): readonly string[] {
    const found = new Set<string>();
    for (const [pattern, methods] of this.#methods) {
      if (matchesPattern(pattern, path)) for (const method of methods) found.add(method);
    }
    return [...found].sort();
  }

  /** All paths with their methods, in the router's syntax. */
  list(): Readonly<Record<string, readonly string[]>> {
    const sorted = [...this.#methods].sort((a, b) => (a[0] < b[0] ? -1 : 1));
    return Object.fromEntries(sorted.map(([path, methods]) => [path, [...methods].sort()]));
  }
}

function matchesPattern(pattern: string, path: string): boolean {
  const want = pattern.split('/');
  const have = path.split('/');
  for (let i = 0; i < want.length; i++) {
    const segment = want[i] ?? '';
    if (segment === '*') return have.length > i;
    if (i >= have.length) return false;
    // The router's patterns escape a literal colon by doubling it.
    const isParameter = segment.startsWith(':') && !segment.startsWith('::');
    if (isParameter ? have[i] === '' : segment.replace('::', ':') !== have[i]) return false;
  }
  return want.length === have.length;
}
