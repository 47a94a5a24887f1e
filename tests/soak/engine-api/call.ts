// One request with the response that the model predicts, and the comparison.

/**
 * A predicted value: objects list the members that are compared, lists are compared as a whole,
 * functions decide.
 */
export type Expected =
  | string
  | number
  | boolean
  | null
  | ((actual: unknown) => boolean)
  | readonly Expected[]
  | { readonly [name: string]: Expected };

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Call = {
  readonly method: Method;
  /**
   * Below a base path, without a slash at its beginning; with one it is a path of its own. A
   * function when it follows from an answer before.
   */
  readonly path: string | (() => string);
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly status: number;
  /** `@` at the beginning of a text stands for the base path that the request came by. */
  readonly json?: Expected | undefined;
  /** The response depends on ongoing work: asked again until it agrees. */
  readonly isSettling?: boolean | undefined;
  /** Learns what only the engine can know. */
  readonly onAnswer?: ((json: unknown) => void) | undefined;
};

export const isText = (actual: unknown): boolean => typeof actual === 'string' && actual !== '';
export const isTime = (actual: unknown): boolean =>
  typeof actual === 'string' && !Number.isNaN(Date.parse(actual));
export const isAnything = (): boolean => true;

/** The shape of every error body. */
export const FAILURE: Expected = { error: isText };

/** Differences between a response and its prediction; empty without any. */
export function differences(
  expected: Expected,
  actual: unknown,
  { base, at = '$' }: { readonly base: string; readonly at?: string | undefined },
): readonly string[] {
  const shown = (value: unknown): string => JSON.stringify(value) ?? 'nothing';
  if (typeof expected === 'function') {
    return expected(actual) ? [] : [`${at}: unexpected ${shown(actual)}`];
  }
  if (Array.isArray(expected)) {
    const list = expected as readonly Expected[];
    if (!Array.isArray(actual)) return [`${at}: expected a list, got ${shown(actual)}`];
    if (actual.length !== list.length) {
      return [`${at}: expected ${list.length} items, got ${actual.length}: ${shown(actual)}`];
    }
    return list.flatMap((item, i) => differences(item, actual[i], { base, at: `${at}[${i}]` }));
  }
  if (expected !== null && typeof expected === 'object') {
    if (actual === null || typeof actual !== 'object') {
      return [`${at}: expected an object, got ${shown(actual)}`];
    }
    const members = actual as Readonly<Record<string, unknown>>;
    return Object.entries(expected).flatMap(([name, item]) =>
      differences(item, members[name], { base, at: `${at}.${name}` }),
    );
  }
  const wanted =
    typeof expected === 'string' && expected.startsWith('@') ? base + expected.slice(1) : expected;
  return Object.is(wanted, actual)
    ? []
    : [`${at}: expected ${shown(wanted)}, got ${shown(actual)}`];
}
