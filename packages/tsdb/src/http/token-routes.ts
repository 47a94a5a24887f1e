// /api/tokens: create, list and revoke API tokens.
import { formatRfc3339, InvalidRequest } from '@tidemark/core';
import { parseConfigDuration } from '@tidemark/settings';

import { createToken, makeTokenText, revokeToken, tokenDigest } from '../catalog/tokens.ts';
import type { ApiToken } from '../catalog/model.ts';
import { sendEmpty, sendJson } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { readJsonFields } from './json-body.ts';
import type { HttpParts } from './parts.ts';

/** GET lists, POST creates, DELETE revokes. */
export async function handleTokens(exchange: Exchange, parts: HttpParts): Promise<void> {
  const { audit } = parts;
  const { catalog } = parts.statements;
  switch (exchange.method) {
    case 'POST':
      return makeToken(exchange, parts);
    case 'DELETE':
      await catalog.change((state) => revokeToken(state, exchange.parameters.get('name')));
      audit.done(exchange, 'api token', {
        action: 'revoke',
        token: exchange.parameters.get('name'),
      });
      return sendEmpty(exchange);
    default:
      sendJson(exchange, 200, { tokens: [...catalog.state.tokens.values()].map(describe) });
  }
}

function describe({ name, userName, createdAt, expiresAt }: ApiToken) {
  return {
    name,
    user: userName,
    created: formatRfc3339(createdAt),
    expires: expiresAt === undefined ? null : formatRfc3339(expiresAt),
  };
}

async function makeToken(
  exchange: Exchange,
  { audit, bodies, statements: { catalog, clock } }: HttpParts,
): Promise<void> {
  const { name, user, expiresIn } = checkRequest(
    await readJsonFields(exchange, bodies, '{"name", "user", "expiresIn"?}'),
  );
  const text = makeTokenText();
  const now = clock.now();
  const expiresAt = expiresIn === undefined ? undefined : now + BigInt(expiresIn) * 1_000_000n;
  const state = await catalog.change((before) =>
    createToken(before, { name, userName: user, digest: tokenDigest(text), now, expiresAt }),
  );
  audit.done(exchange, 'api token', { action: 'make', token: name, for: user });
  const token = state.tokens.get(name);
  sendJson(exchange, 201, { ...(token === undefined ? {} : describe(token)), token: text });
}

function checkRequest(fields: Readonly<Record<string, unknown>>): {
  readonly name: string;
  readonly user: string;
  /** Milliseconds. */
  readonly expiresIn: number | undefined;
} {
  const { name, user, expiresIn } = fields;
  if (typeof name !== 'string' || typeof user !== 'string') {
    throw new InvalidRequest('name and user must be texts');
  }
  if (expiresIn === undefined || expiresIn === null) return { name, user, expiresIn: undefined };
  const durationMs = typeof expiresIn === 'string' ? parseConfigDuration(expiresIn) : undefined;
  if (durationMs === undefined || !(durationMs > 0)) {
    throw new InvalidRequest('expiresIn must be a duration such as "720h"');
  }
  return { name, user, expiresIn: Math.round(durationMs) };
}
