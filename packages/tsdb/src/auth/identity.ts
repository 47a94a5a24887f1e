// The identity behind a request, and its rights.
import { Forbidden } from '@tidemark/core';

import type { User } from '../catalog/model.ts';
import { hasRight } from '../catalog/users.ts';
import type { Right } from '../catalog/users.ts';

/**
 * `open`: authentication is off. `bootstrap`: it is on, but there is no admin user yet, so that
 * credentials are not required and only the first admin can be created. `user`: credentials were
 * right.
 */
export type Identity =
  | { readonly kind: 'open' }
  | { readonly kind: 'bootstrap' }
  | { readonly kind: 'user'; readonly user: User };

/** Whether the identity has a right on a database. */
export function may(identity: Identity, right: Right, database: string): boolean {
  if (identity.kind === 'open') return true;
  return identity.kind === 'user' && hasRight(identity.user, database, right);
}

export function isAdmin(identity: Identity): boolean {
  return identity.kind === 'open' || (identity.kind === 'user' && identity.user.isAdmin);
}

/** For endpoints that write or read a database without a statement. */
export function requireRight(identity: Identity, right: Right, database: string): void {
  const action = `${right} ${right === 'write' ? 'to' : 'from'} database ${JSON.stringify(database)}`;
  if (identity.kind === 'bootstrap') throw new Forbidden(`user is required to ${action}`);
  if (may(identity, right, database)) return;
  const user = identity.kind === 'user' ? JSON.stringify(identity.user.name) : '';
  throw new Forbidden(`${user} user is not authorized to ${action}`);
}

/** For endpoints of operators. */
export function requireAdmin(identity: Identity): void {
  if (!isAdmin(identity)) throw new Forbidden('error authorizing admin access');
}
