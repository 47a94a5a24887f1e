// /api/identity: whom the credentials belong to that somebody sent to another service, and what that user may do here.
// The task engine asks it about its clients, so that their wrong passwords count for them and not for the engine.
import { InvalidRequest, LimitExceeded, Unauthorized } from '@tidemark/core';

import { hasRight } from '../catalog/users.ts';
import { sendJson } from './answer.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { HttpServices } from './services.ts';

/** Answers 200 in any case where the question could be asked: who it is, or why nobody. */
export async function handleIdentity(exchange: Exchange, services: HttpServices): Promise<void> {
  const { authenticator, audit, catalog, config, counters } = services;
  const body = await readBody(exchange.request, config.http.maxBodySizeBytes);
  const { authorization, address } = parseRequest(Buffer.from(body).toString('utf8'));
  try {
    const user = await authenticator.identify(authorization, address);
    const writes = [...catalog.state.databases.keys()].filter((name) =>
      hasRight(user, name, 'write'),
    );
    sendJson(exchange, 200, { user: user.name, admin: user.isAdmin, writes });
  } catch (error) {
    if (!(error instanceof Unauthorized || error instanceof LimitExceeded)) throw error;
    if (error instanceof Unauthorized) counters.authFail++;
    audit.refused({ ...exchange, remoteAddress: address }, eventOf(error), error.message);
    const isThrottled = error instanceof LimitExceeded;
    sendJson(exchange, 200, { user: null, reason: error.message, throttled: isThrottled });
  }
}

function eventOf(error: Unauthorized | LimitExceeded): string {
  return error instanceof LimitExceeded ? 'login refused' : 'credentials refused';
}

function parseRequest(text: string): { readonly authorization: string; readonly address: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InvalidRequest('the body must be JSON: {"authorization", "address"}', {
      cause: error,
    });
  }
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const { authorization, address } = Object.fromEntries(fields) as Record<string, unknown>;
  if (typeof authorization !== 'string' || typeof address !== 'string' || address === '') {
    throw new InvalidRequest('authorization and address must be texts');
  }
  return { authorization, address };
}
