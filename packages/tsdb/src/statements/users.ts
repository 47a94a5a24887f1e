// Statements about users and their rights.
import { Conflict, InvalidRequest } from '@tidemark/core';
import type { DefinitionStatement } from '@tidemark/influxql';
import { compare } from '@node-rs/bcrypt';

import { hashPassword } from '../auth/passwords.ts';
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
import { acts } from './context.ts';

type Of<K extends DefinitionStatement['kind']> = Extract<DefinitionStatement, { readonly kind: K }>;

/** The same user again, password and admin flag included, is success. */
export const createUserHandler = acts<Of<'create-user'>>(async (statement, { services }) => {
  const { name, password, isAdmin } = statement;
  if (name === '') throw new InvalidRequest(USERNAME_REQUIRED);
  const existing = services.catalog.state.users.get(name);
  if (existing !== undefined) {
    const isSame = existing.isAdmin === isAdmin && (await compare(password, existing.passwordHash));
    if (!isSame) throw new Conflict(USER_EXISTS);
    return;
  }
  const passwordHash = await hashPassword(password, services.passwordCost);
  await services.catalog.change((state) => createUser(state, { name, passwordHash, isAdmin }));
});

export const dropUserHandler = acts<Of<'drop-user'>>((statement, { services }) =>
  services.catalog.change((state) => dropUser(state, statement.name)),
);

export const setPasswordHandler = acts<Of<'set-password'>>(async (statement, { services }) => {
  requireUser(services.catalog.state, statement.name);
  const passwordHash = await hashPassword(statement.password, services.passwordCost);
  await services.catalog.change((state) => setPassword(state, statement.name, passwordHash));
});

export const grantHandler = acts<Of<'grant'>>((statement, { services }) =>
  services.catalog.change((state) => grant(state, statement)),
);

export const revokeHandler = acts<Of<'revoke'>>((statement, { services }) =>
  services.catalog.change((state) => revoke(state, statement)),
);

export const grantAdminHandler = acts<Of<'grant-admin'>>((statement, { services }) =>
  services.catalog.change((state) => setAdmin(state, statement.user, true)),
);

export const revokeAdminHandler = acts<Of<'revoke-admin'>>((statement, { services }) =>
  services.catalog.change((state) => setAdmin(state, statement.user, false)),
);
