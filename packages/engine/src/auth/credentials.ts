// Reads the credentials of a request: basic authentication, `Token user:password`, an API token of
// the database, a JSON web token, or `u` and `p` in the URL. The header takes precedence.
import { Unauthorized } from '@tidemark/core';
import type { QueryParams } from '../formats/params.ts';

/** Prefix of the database's API tokens, which distinguishes them from `user:password`. */
const API_TOKEN_PREFIX = 'tmk_';

export type Credentials = {
  readonly kind: 'password' | 'web-token' | 'api-token';
  /** Name of the user; '' if only the token has it. */
  readonly name: string;
  /** Password or token. */
  readonly secret: string;
  /** The same credentials as a header for the database. */
  readonly authorization: string;
};

/** Throws `Unauthorized` when there are none or they cannot be read. */
export function readCredentials(request: {
  readonly query: QueryParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}): Credentials {
  const { query, headers } = request;
  const [header] = [headers['authorization']].flat();
  if (header === undefined) {
    if (query.has('u')) return password(query.get('u'), query.get('p'));
    throw unreadable();
  }
  const space = header.indexOf(' ');
  const scheme = header.slice(0, Math.max(0, space)).toLowerCase();
  const value = header.slice(space + 1).trim();
  const isApiToken = value.startsWith(API_TOKEN_PREFIX);
  if (isApiToken && (scheme === 'token' || scheme === 'bearer'))
    return { kind: 'api-token', name: '', secret: value, authorization: `Token ${value}` };
  if (scheme === 'bearer')
    return { kind: 'web-token', name: '', secret: value, authorization: `Bearer ${value}` };
  if (scheme === 'token') return splitPassword(value);
  if (scheme === 'basic') return splitPassword(Buffer.from(value, 'base64').toString('utf8'));
  throw unreadable();
}

function splitPassword(text: string): Credentials {
  const colon = text.indexOf(':');
  if (colon < 0) throw unreadable();
  return password(text.slice(0, colon), text.slice(colon + 1));
}

function password(name: string, secret: string): Credentials {
  if (name === '') throw new Unauthorized('username required');
  const pair = Buffer.from(`${name}:${secret}`).toString('base64');
  return { kind: 'password', name, secret, authorization: `Basic ${pair}` };
}

function unreadable(): Unauthorized {
  return new Unauthorized('unable to parse authentication credentials');
}
