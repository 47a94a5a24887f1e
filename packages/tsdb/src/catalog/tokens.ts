// API tokens: long random strings that stand for a user. Only their digest is stored; they can
// expire and be revoked.
import { createHash, randomBytes } from 'node:crypto';

import { Conflict, InvalidRequest, NotFound } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';

import { without } from './model.ts';
import type { ApiToken, CatalogState } from './model.ts';
import { requireUser } from './users.ts';

/**
 * Distinguishes tokens from passwords and JSON web tokens, and lets scanners of repositories find
 * leaked ones.
 */
export const TOKEN_PREFIX = 'tmk_';

/** A new token. It is shown once; the catalog gets its digest. */
export function makeTokenText(): string {
  return `${TOKEN_PREFIX}${randomBytes(32).toString('base64url')}`;
}

/** The stored digest of a token, which has 256 random bits, so that a plain digest is enough. */
export function tokenDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function createToken(
  state: CatalogState,
  wanted: {
    readonly name: string;
    readonly userName: string;
    readonly digest: string;
    readonly now: Timestamp;
    readonly expiresAt?: Timestamp | undefined;
  },
): CatalogState {
  const { name, userName, digest, now, expiresAt } = wanted;
  if (name === '') throw new InvalidRequest('a token needs a name');
  requireUser(state, userName);
  if (state.tokens.has(name)) throw new Conflict('a token of that name already exists');
  const token: ApiToken = { id: state.nextId, name, userName, digest, createdAt: now, expiresAt };
  return {
    ...state,
    nextId: state.nextId + 1,
    tokens: new Map(state.tokens).set(name, token),
  };
}

export function revokeToken(state: CatalogState, name: string): CatalogState {
  if (!state.tokens.has(name)) throw new NotFound('no such token');
  return { ...state, tokens: without(state.tokens, name) };
}

const byDigest = new WeakMap<CatalogState['tokens'], ReadonlyMap<string, ApiToken>>();

/** The token with that text, unless it has expired. */
export function findToken(state: CatalogState, text: string, now: Timestamp): ApiToken | undefined {
  let index = byDigest.get(state.tokens);
  if (index === undefined) {
    index = new Map([...state.tokens.values()].map((token) => [token.digest, token]));
    byDigest.set(state.tokens, index);
  }
  const token = index.get(tokenDigest(text));
  if (token === undefined) return undefined;
  return token.expiresAt !== undefined && token.expiresAt <= now ? undefined : token;
}
