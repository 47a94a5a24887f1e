// Query parameters, parsed by this module's own rules: `+` and `%20` are spaces, names may repeat,
// broken escapes are kept.
import { InvalidRequest } from '@tidemark/core';
import { compileGlob } from '@tidemark/settings';
import type { Glob } from '@tidemark/settings';
import { LIST_LIMIT_DEFAULT, URL_PARAMETER_CHARS_MAX } from '../limits.ts';

export class QueryParams {
  readonly #values = new Map<string, string[]>();

  /** Reads the part of a URL after `?`. */
  constructor(url: string) {
    const start = url.indexOf('?');
    if (start < 0) return;
    if (url.length - start > URL_PARAMETER_CHARS_MAX * 16)
      throw new InvalidRequest('query is too long');
    for (const pair of url.slice(start + 1).split('&')) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const name = decode(equals < 0 ? pair : pair.slice(0, equals));
      const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
      const values = this.#values.get(name);
      if (values === undefined) this.#values.set(name, [value]);
      else values.push(value);
    }
  }

  /** The first value, '' when there is none. */
  get(name: string): string {
    return this.#values.get(name)?.[0] ?? '';
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }

  entries(): Iterable<readonly [string, readonly string[]]> {
    return this.#values;
  }
}

/** Decodes one part of a URL's query. */
export function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    // A broken escape stays as it is, as clients' own parsers treat it.
    return spaced;
  }
}

/** The shell glob that ids of a list have to match; without one, everything. */
export function readPattern(query: QueryParams): Glob {
  const pattern = query.get('pattern');
  const glob = pattern === '' ? () => true : compileGlob(pattern);
  if (glob !== undefined) return glob;
  throw new InvalidRequest(
    `invalid pattern ${JSON.stringify(pattern)}: a bracket is not closed, or a backslash escapes nothing`,
  );
}

/** `offset` and `limit` of a list. */
export function readPage(params: QueryParams): { readonly offset: number; readonly limit: number } {
  const offset = Math.max(0, readInteger(params, 'offset', 0));
  const limit = readInteger(params, 'limit', LIST_LIMIT_DEFAULT);
  // A negative limit means all, as recorded.
  return { offset, limit: limit < 0 ? Number.POSITIVE_INFINITY : limit };
}

function readInteger(params: QueryParams, name: string, fallback: number): number {
  const text = params.get(name);
  if (text === '') return fallback;
  const value = /^[-+]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) {
    const shown = JSON.stringify(text);
    throw new InvalidRequest(`invalid ${name} parameter ${shown}: it must be an integer`);
  }
  return value;
}

/**
 * The fields that a list shows: all, or `link`, the `key` that names an item and the requested
 * ones. Throws for an unknown name.
 */
export function readFields(
  params: QueryParams,
  known: readonly string[],
  key = 'id',
): ReadonlySet<string> | undefined {
  const asked = params.all('fields');
  if (asked.length === 0) return undefined;
  const unknown = asked.find((field) => ![...known, key, 'link'].includes(field));
  if (unknown !== undefined) {
    throw new InvalidRequest(
      `unsupported field ${JSON.stringify(unknown)}; there are ${[key, 'link', ...known].join(', ')}`,
    );
  }
  return new Set([key, 'link', ...asked]);
}

/** Keeps the chosen fields of an answer. */
export function pickFields(
  value: Readonly<Record<string, unknown>>,
  fields: ReadonlySet<string> | undefined,
): Readonly<Record<string, unknown>> {
  if (fields === undefined) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => fields.has(name)));
}
