// Reads members of documents that clients send, by name. An error names the member and the values
// that are allowed.
import { InvalidRequest } from '@tidemark/core';

export type Document = Readonly<Record<string, unknown>>;

const SHOWN_CHARS = 100;

/** Refuses a member; `expected` describes the allowed values. */
export function refuseMember(name: string, expected: string, value: unknown): never {
  const shown = Array.isArray(value)
    ? 'a list'
    : typeof value === 'object' && value !== null
      ? 'an object'
      : typeof value === 'string'
        ? JSON.stringify(value.slice(0, SHOWN_CHARS))
        : String(value);
  throw new InvalidRequest(`${name} must be ${expected}, not ${shown}`);
}

/** Text; `undefined` where there is none. */
export function optionalText(document: Document, name: string): string | undefined {
  const value = document[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  return refuseMember(name, 'text', value);
}

/** True or false; `undefined` where there is neither. */
export function optionalFlag(document: Document, name: string): boolean | undefined {
  const value = document[name] ?? undefined;
  if (value === undefined || typeof value === 'boolean') return value;
  return refuseMember(name, 'true or false', value);
}

/** One of a few texts; `undefined` if it is absent or empty. */
export function optionalChoice<const Choice extends string>(
  document: Document,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = document[name] ?? undefined;
  if (value === undefined || value === '') return undefined;
  const choice = choices.find((each) => each === value);
  const expected = choices.map((each) => JSON.stringify(each)).join(' or ');
  return choice ?? refuseMember(name, expected, value);
}
