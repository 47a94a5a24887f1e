// /api/identity: verifies credentials that a client sent to another service, and returns their user
// and rights. The task engine uses it for its clients, so that wrong passwords count against them
// and not against the engine.
import { InvalidRequest, LimitExceeded, Unauthorized } from '@tidemark/core';

import type { Identity } from '../auth/identity.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { User } from '../catalog/model.ts';
import { hasRight } from '../catalog/users.ts';
import { sendJson } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { readJsonFields } from './json-body.ts';
import type { HttpParts } from './parts.ts';

/**
 * Answers 200 whenever the credentials could be checked: with the user, or with the reason for
 * none.
 */
export async function handleIdentity(
  exchange: Exchange,
  { audit, authenticator, bodies, counters, statements }: HttpParts,
): Promise<void> {
  const { authorization, address } = checkRequest(
    await readJsonFields(exchange, bodies, '{"authorization", "address"}'),
  );
  try {
    const user = await authenticator.identify(authorization, address);
    sendJson(exchange, 200, answerOf(user, statements.catalog));
  } catch (error) {
    if (!(error instanceof Unauthorized || error instanceof LimitExceeded)) throw error;
    if (error instanceof Unauthorized) counters.authFail++;
    const isThrottled = error instanceof LimitExceeded;
    const event = isThrottled ? 'login refused' : 'credentials refused';
    audit.refused({ ...exchange, remoteAddress: address }, event, error.message);
    sendJson(exchange, 200, { user: null, reason: error.message, throttled: isThrottled });
  }
}

/**
 * GET /api/me: the same for the client itself. Without authentication all clients may do
 * everything.
 */
export function handleMe(exchange: Exchange, { statements }: HttpParts, identity: Identity): void {
  const user =
    identity.kind === 'user' ? identity.user : { name: '', isAdmin: true, grants: {} as const };
  sendJson(exchange, 200, answerOf(user, statements.catalog));
}

function answerOf(user: Pick<User, 'name' | 'isAdmin' | 'grants'>, { state }: Catalog): object {
  const names = [...state.databases.keys()];
  const reads = names.filter((name) => hasRight(user, name, 'read'));
  const writes = names.filter((name) => hasRight(user, name, 'write'));
  return { user: user.name, admin: user.isAdmin, reads, writes };
}

function checkRequest(fields: Readonly<Record<string, unknown>>): {
  readonly authorization: string;
  readonly address: string;
} {
  const { authorization, address } = fields;
  if (typeof authorization !== 'string' || typeof address !== 'string' || address === '') {
    throw new InvalidRequest('authorization and address must be texts');
  }
  return { authorization, address };
}
