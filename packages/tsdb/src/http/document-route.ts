// /api/documents: documents of the web application. The task engine has the same API
// (packages/process/src/documents/answer.ts).
import { Forbidden } from '@tidemark/core';
import { answerDocuments } from '@tidemark/process';
import type { DocumentUser } from '@tidemark/process';

import type { Identity } from '../auth/identity.ts';
import { sendEmpty, sendJson } from './answer.ts';
import { readBody } from './body.ts';
import type { Exchange } from './exchange.ts';
import type { HttpParts } from './parts.ts';

/** GET lists and reads, PUT stores a version, DELETE removes. */
export async function handleDocuments(
  exchange: Exchange,
  { audit, bodies, documents }: HttpParts,
  identity: Identity,
): Promise<void> {
  const request = {
    method: exchange.method,
    parameter: (name: string) => exchange.parameters.get(name),
    body: () => readBody(exchange, bodies),
    user: userOf(identity),
  };
  const answer = await answerDocuments(documents, request, (action, { kind, id }) =>
    audit.done(exchange, 'document', { action, kind, id }),
  );
  if (answer.status === 204) sendEmpty(exchange);
  else sendJson(exchange, answer.status, answer.json);
}

function userOf(identity: Identity): DocumentUser {
  switch (identity.kind) {
    case 'open':
      return { name: '', isAdmin: true, hasGrant: true };
    case 'bootstrap':
      throw new Forbidden('user is required to read documents');
    case 'user': {
      const { name, isAdmin, grants } = identity.user;
      const hasGrant = Object.values(grants).some((grant) => grant !== 'none');
      return { name, isAdmin, hasGrant: isAdmin || hasGrant };
    }
  }
}
