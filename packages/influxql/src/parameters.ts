// Bind parameters: `$name` stands for one token, never for a piece of text, so that values cannot
// change the structure of a query.
import { formatDuration, MAX_INT64, MIN_INT64 } from '@tidemark/core';
import type { BindParameter } from './parse.ts';
import { keywordOf } from './token.ts';
import type { Token, TokenKind } from './token.ts';

/** The result of binding a value: a token, or a text that says why it cannot be bound. */
type Binding =
  | { readonly kind: TokenKind; readonly text: string; readonly fixed?: string }
  | { readonly error: string };

/**
 * The token that a parameter stands for. A parameter without a value stays a `parameter` token;
 * where an expression is expected that is an error of its own, elsewhere a wrong token.
 */
export function parameterToken(
  token: Token,
  parameters: ReadonlyMap<string, BindParameter> | undefined,
): Token {
  const value = parameters?.get(token.text);
  if (value === undefined) return token;
  const binding = bind(value);
  if ('error' in binding) return { ...token, text: binding.error, kind: 'bad-parameter' };
  return { ...token, kind: binding.kind, text: binding.text, fixed: binding.fixed ?? '' };
}

function bind(value: BindParameter): Binding {
  switch (typeof value) {
    case 'boolean':
      return bindBoolean(value);
    case 'bigint':
      return bindInteger(value);
    case 'number':
      return bindNumber(value);
    case 'string':
      return { kind: 'string', text: value };
    default:
      return bindObject(value);
  }
}

function bindObject(value: Exclude<BindParameter, boolean | bigint | number | string>): Binding {
  if (value === null) return unbindable('<nil>');
  if (Array.isArray(value)) return unbindable('[]interface {}');
  const entries = Object.entries(value);
  const [entry] = entries;
  if (entry === undefined || entries.length !== 1) {
    return { error: 'bound object parameter value must have exactly one entry' };
  }
  return bindTyped(entry[0], entry[1]);
}

function bindTyped(type: string, value: unknown): Binding {
  switch (type) {
    case 'ident':
    case 'identifier':
      return typeof value === 'string' ? { kind: 'identifier', text: value } : wrongType(type);
    case 'regex':
      return typeof value === 'string' ? { kind: 'regex', text: value } : wrongType(type);
    case 'string':
      return typeof value === 'string' ? { kind: 'string', text: value } : wrongType(type);
    case 'float':
    case 'number':
      if (typeof value === 'number') return bindNumber(value);
      return typeof value === 'bigint' ? bindNumber(Number(value)) : wrongType(type);
    case 'int':
    case 'integer':
      if (typeof value === 'bigint') return bindInteger(value);
      return Number.isInteger(value) ? bindInteger(BigInt(Number(value))) : wrongType(type);
    case 'duration':
      if (typeof value === 'string') return { kind: 'duration', text: value };
      if (typeof value === 'bigint') return { kind: 'duration', text: formatDuration(value) };
      return Number.isInteger(value)
        ? { kind: 'duration', text: formatDuration(BigInt(Number(value))) }
        : wrongType(type);
    default:
      return { error: `unknown bind object type: ${type}` };
  }
}

function bindBoolean(value: boolean): Binding {
  const word = keywordOf(String(value)) ?? '';
  return { kind: 'word', text: word, fixed: word };
}

function bindInteger(value: bigint): Binding {
  if (value < MIN_INT64 || value > MAX_INT64) return { error: 'unable to parse integer' };
  return { kind: 'integer', text: String(value) };
}

function bindNumber(value: number): Binding {
  return Number.isFinite(value)
    ? { kind: 'number', text: String(value) }
    : { error: 'unable to parse number' };
}

function unbindable(type: string): Binding {
  return { error: `missing parameter: unable to bind parameter with type ${type}` };
}

function wrongType(type: string): Binding {
  return { error: `bound value of type ${type} has the wrong form` };
}
