// Changes of users and their rights. Passwords arrive here as hashes.
import { Conflict, InvalidRequest, NotFound, own } from '@tidemark/core';
import type { Privilege } from '@tidemark/influxql';

import { USER_EXISTS, USER_NOT_FOUND, USERNAME_REQUIRED } from '../compat/messages.ts';
import { requireDatabase } from './databases.ts';
import { without, withUser } from './model.ts';
import type { CatalogState, Database, Grant, User } from './model.ts';

export function requireUser(state: CatalogState, name: string): User {
  const user = state.users.get(name);
  if (user === undefined) throw new NotFound(USER_NOT_FOUND);
  return user;
}

/** Refuses the empty name. The caller has checked whether an existing user is the same one. */
export function createUser(
  state: CatalogState,
  user: { readonly name: string; readonly passwordHash: string; readonly isAdmin: boolean },
): CatalogState {
  if (user.name === '') throw new InvalidRequest(USERNAME_REQUIRED);
  if (state.users.has(user.name)) throw new Conflict(USER_EXISTS);
  return withUser(
    { ...state, nextId: state.nextId + 1 },
    { ...user, id: state.nextId, grants: {} },
  );
}

export function dropUser(state: CatalogState, name: string): CatalogState {
  requireUser(state, name);
  const users = without(state.users, name);
  // A token of a removed user must not be valid for the next user of that name.
  const tokens = new Map([...state.tokens].filter(([, token]) => token.userName !== name));
  const databases = new Map(
    Array.from(state.databases, ([key, database]) => [key, disownQueries(database, name)]),
  );
  return { ...state, databases, users, tokens };
}

/** Continuous queries of a removed user stop running, even if a new user gets that name. */
function disownQueries(database: Database, name: string): Database {
  if (database.continuousQueries.every(({ owner }) => owner !== name)) return database;
  const continuousQueries = database.continuousQueries.map((query) =>
    query.owner === name ? { ...query, owner: '' } : query,
  );
  return { ...database, continuousQueries };
}

export function setPassword(state: CatalogState, name: string, passwordHash: string): CatalogState {
  return withUser(state, { ...requireUser(state, name), passwordHash });
}

export function setAdmin(state: CatalogState, name: string, isAdmin: boolean): CatalogState {
  return withUser(state, { ...requireUser(state, name), isAdmin });
}

const GRANT_OF: Readonly<Record<Privilege, Grant>> = { READ: 'read', WRITE: 'write', ALL: 'all' };

type GrantChange = {
  readonly user: string;
  readonly database: string;
  readonly privilege: Privilege;
};

/** Replaces the right that the user had on that database. */
export function grant(state: CatalogState, change: GrantChange): CatalogState {
  requireDatabase(state, change.database);
  const user = requireUser(state, change.user);
  const grants = { ...user.grants, [change.database]: GRANT_OF[change.privilege] };
  return withUser(state, { ...user, grants });
}

/** Takes one right away; the database stays listed with what is left. */
export function revoke(state: CatalogState, change: GrantChange): CatalogState {
  requireDatabase(state, change.database);
  const user = requireUser(state, change.user);
  const before = user.grants[change.database] ?? 'none';
  const grants = { ...user.grants, [change.database]: remaining(before, change.privilege) };
  return withUser(state, { ...user, grants });
}

function remaining(before: Grant, privilege: Privilege): Grant {
  if (privilege === 'ALL' || before === GRANT_OF[privilege]) return 'none';
  if (before !== 'all') return before;
  return privilege === 'READ' ? 'write' : 'read';
}

export type Right = 'read' | 'write';

/** Whether a user has a right on a database. */
export function hasRight(
  user: Pick<User, 'isAdmin' | 'grants'>,
  database: string,
  right: Right,
): boolean {
  if (user.isAdmin) return true;
  const held = own(user.grants, database);
  return held === 'all' || held === right;
}
