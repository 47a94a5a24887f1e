// The identity behind a request, and its rights.
import { Forbidden } from '@tidemark/core';

import type { User } from '../catalog/model.ts';
import { hasRight } from '../catalog/users.ts';

/**
 * `open`: authentication is off. `bootstrap`: it is on, but there is no admin user yet, so that
 * credentials are not required and only the first admin can be created. `user`: credentials were
 * right.
 */
export type Identity =
  | { readonly kind: 'open' }
  | { readonly kind: 'bootstrap' }
  | { readonly kind: 'user'; readonly user: User };

export function canRead(identity: Identity, database: string): boolean {
  if (identity.kind === 'open') return true;
  return identity.kind === 'user' && hasRight(identity.user, database, 'read');
}

export function canWrite(identity: Identity, database: string): boolean {
  if (identity.kind === 'open') return true;
  return identity.kind === 'user' && hasRight(identity.user, database, 'write');
}

export function isAdmin(identity: Identity): boolean {
  return identity.kind === 'open' || (identity.kind === 'user' && identity.user.isAdmin);
}

/** The texts are those of /write. */
export function requireWrite(identity: Identity, database: string): void {
  const name = JSON.stringify(database);
  if (identity.kind === 'bootstrap') {
    throw new Forbidden(`user is required to write to database ${name}`);
  }
  if (canWrite(identity, database)) return;
  const user = identity.kind === 'user' ? JSON.stringify(identity.user.name) : '';
  throw new Forbidden(`${user} user is not authorized to write to database ${name}`);
}

/** For endpoints that read a database without a statement. */
export function requireRead(identity: Identity, database: string): void {
  const name = JSON.stringify(database);
  if (identity.kind === 'bootstrap') {
    throw new Forbidden(`user is required to read from database ${name}`);
  }
  if (canRead(identity, database)) return;
  const user = identity.kind === 'user' ? JSON.stringify(identity.user.name) : '';
  throw new Forbidden(`${user} user is not authorized to read from database ${name}`);
}

/** For endpoints of operators. */
export function requireAdmin(identity: Identity): void {
  if (!isAdmin(identity)) throw new Forbidden('error authorizing admin access');
}
