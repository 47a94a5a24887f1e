// Statements about users and their rights.
import { Conflict, InvalidRequest } from '@tidemark/core';
import { compare } from '@node-rs/bcrypt';
import { hashPassword } from '../auth/passwords.ts';
import { needsAdmin } from '../auth/requirements.ts';
import {
  createUser,
  dropUser,
  grant,
  requireUser,
  revoke,
  setAdmin,
  setPassword,
} from '../catalog/users.ts';
import { USER_EXISTS, USERNAME_REQUIRED } from '../compat/messages.ts';
import { changes, changesCatalog } from './rows.ts';
import type { Rows } from './rows.ts';

export const USERS = {
  /** The same user again, password and admin flag included, is success. */
  'create-user': changes(needsAdmin, async (statement, { services }) => {
    const { name, password, isAdmin } = statement;
    if (name === '') throw new InvalidRequest(USERNAME_REQUIRED);
    const existing = services.catalog.state.users.get(name);
    if (existing !== undefined) {
      const isSame =
        existing.isAdmin === isAdmin && (await compare(password, existing.passwordHash));
      if (!isSame) throw new Conflict(USER_EXISTS);
      return;
    }
    const passwordHash = await hashPassword(password, services.passwordCost);
    await services.catalog.change((state) => createUser(state, { name, passwordHash, isAdmin }));
  }),
  'drop-user': changesCatalog(needsAdmin, (state, { name }) => dropUser(state, name)),
  'set-password': changes(needsAdmin, async ({ name, password }, { services }) => {
    requireUser(services.catalog.state, name);
    const passwordHash = await hashPassword(password, services.passwordCost);
    await services.catalog.change((state) => setPassword(state, name, passwordHash));
  }),
  grant: changesCatalog(needsAdmin, grant),
  revoke: changesCatalog(needsAdmin, revoke),
  'grant-admin': changesCatalog(needsAdmin, (state, { user }) => setAdmin(state, user, true)),
  'revoke-admin': changesCatalog(needsAdmin, (state, { user }) => setAdmin(state, user, false)),
} satisfies Partial<Rows>;
