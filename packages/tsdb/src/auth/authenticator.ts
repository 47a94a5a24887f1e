// Authenticates requests: turns credentials into an identity.
import { Conflict, Unauthorized } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { LoginThrottle } from '@tidemark/process';

import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogState, User } from '../catalog/model.ts';
import { findToken } from '../catalog/tokens.ts';
import { AUTHORIZATION_FAILED, USER_NOT_FOUND } from '../compat/messages.ts';
import { readCredentials } from './credentials.ts';
import type { Login } from './credentials.ts';
import type { Identity } from './identity.ts';
import { PasswordChecker } from './passwords.ts';
import { TokenVerifier } from './tokens.ts';
import type { TokenSettings } from './tokens.ts';

export type AuthenticatorOptions = {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly isEnabled: boolean;
  /** `meta.password-cost`. */
  readonly passwordCost: number;
  readonly tokens: TokenSettings;
};

const OPEN: Identity = { kind: 'open' };

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #passwords: PasswordChecker;
  readonly #tokens: TokenVerifier;
  readonly #throttle: LoginThrottle;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#passwords = new PasswordChecker(options.passwordCost);
    this.#tokens = new TokenVerifier(options.tokens);
    this.#throttle = new LoginThrottle({
      monotonicMs: () => options.clock.monotonicMs(),
      isWrong: (error) => error instanceof Unauthorized,
    });
  }

  /**
   * The identity at once where nothing has to be checked that takes time. Throws or rejects with
   * `Unauthorized`, or `LimitExceeded` after too many failures.
   */
  authenticate(login: Login): Identity | Promise<Identity> {
    const { catalog, isEnabled } = this.#options;
    if (!isEnabled) return OPEN;
    if (!hasAdmin(catalog.state)) return { kind: 'bootstrap' };
    return this.#userWith(login).then((user) => ({ kind: 'user', user }));
  }

  /**
   * The user of a header `Authorization` that a client at that address sent to another service.
   * Failures count for that address. Throws as `authenticate`, and `Conflict` when authentication
   * is off.
   */
  async identify(authorization: string, address: string): Promise<User> {
    if (!this.#options.isEnabled) throw new Conflict('authentication is off');
    return this.#userWith({ userName: '', password: '', authorization, address });
  }

  async #userWith(login: Login): Promise<User> {
    const credentials = readCredentials(login);
    const { state } = this.#options.catalog;
    switch (credentials.kind) {
      case 'none':
        throw new Unauthorized(AUTHORIZATION_FAILED);
      case 'api-token':
        return this.#withApiToken(credentials.token, state);
      case 'bearer':
        return this.#withToken(credentials.token, state);
      case 'password':
        return this.#throttle.attempt({ ...credentials, address: login.address }, () =>
          this.#withPassword(credentials, state),
        );
    }
  }

  /** Tokens are too long to be guessed: they are never throttled. */
  #withApiToken(text: string, state: CatalogState): User {
    const token = findToken(state, text, this.#options.clock.now());
    const user = token === undefined ? undefined : state.users.get(token.userName);
    if (user === undefined) throw new Unauthorized(AUTHORIZATION_FAILED);
    return user;
  }

  async #withToken(token: string, state: CatalogState): Promise<User> {
    const now = new Date(Number(this.#options.clock.now() / 1_000_000n));
    const userName = await this.#tokens.userName(token, now);
    const user = state.users.get(userName);
    if (user === undefined) throw new Unauthorized(USER_NOT_FOUND);
    return user;
  }

  async #withPassword(
    { userName, password }: { readonly userName: string; readonly password: string },
    state: CatalogState,
  ): Promise<User> {
    const user = state.users.get(userName);
    const isRight = await this.#passwords.check(userName, password, user?.passwordHash);
    if (!isRight || user === undefined) throw new Unauthorized(AUTHORIZATION_FAILED);
    return user;
  }
}

function hasAdmin(state: CatalogState): boolean {
  for (const user of state.users.values()) if (user.isAdmin) return true;
  return false;
}
