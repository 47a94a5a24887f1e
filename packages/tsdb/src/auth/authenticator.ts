// From the credentials of a request to an identity.
import { Unauthorized } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogState } from '../catalog/model.ts';
import { findToken } from '../catalog/tokens.ts';
import { AUTHORIZATION_FAILED, USER_NOT_FOUND } from '../compat/messages.ts';
import type { Exchange } from '../http/exchange.ts';
import { readCredentials } from './credentials.ts';
import type { Identity } from './identity.ts';
import { PasswordChecker } from './passwords.ts';
import { LoginThrottle } from './throttle.ts';
import { TokenVerifier } from './tokens.ts';
import type { TokenSettings } from './tokens.ts';

export type AuthenticatorOptions = {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly isEnabled: boolean;
  readonly tokens: TokenSettings;
};

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #passwords = new PasswordChecker();
  readonly #tokens: TokenVerifier;
  readonly #throttle: LoginThrottle;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#tokens = new TokenVerifier(options.tokens);
    this.#throttle = new LoginThrottle(() => options.clock.monotonicMs());
  }

  /** Throws `Unauthorized`, or `LimitExceeded` after too many failures. */
  async authenticate(exchange: Exchange): Promise<Identity> {
    const { catalog, isEnabled } = this.#options;
    if (!isEnabled) return { kind: 'open' };
    const { state } = catalog;
    if (!hasAdmin(state)) return { kind: 'bootstrap' };
    const credentials = readCredentials(
      exchange.parameters,
      exchange.request.headers.authorization,
    );
    switch (credentials.kind) {
      case 'none':
        throw new Unauthorized(AUTHORIZATION_FAILED);
      case 'api-token':
        return this.#withApiToken(exchange, credentials.token, state);
      case 'bearer':
        return this.#withToken(exchange, credentials.token, state);
      case 'password':
        return this.#withPassword(exchange, credentials, state);
    }
  }

  #withApiToken(exchange: Exchange, text: string, state: CatalogState): Identity {
    const { remoteAddress } = exchange;
    this.#throttle.check(remoteAddress, 'api-token');
    const token = findToken(state, text, this.#options.clock.now());
    const user = token === undefined ? undefined : state.users.get(token.userName);
    if (user === undefined) {
      this.#throttle.failed(remoteAddress, 'api-token');
      throw new Unauthorized(AUTHORIZATION_FAILED);
    }
    this.#throttle.succeeded(remoteAddress, 'api-token');
    exchange.userName = user.name;
    return { kind: 'user', user };
  }

  async #withToken(exchange: Exchange, token: string, state: CatalogState): Promise<Identity> {
    const now = new Date(Number(this.#options.clock.now() / 1_000_000n));
    const userName = await this.#tokens.userName(token, now);
    const user = state.users.get(userName);
    if (user === undefined) throw new Unauthorized(USER_NOT_FOUND);
    exchange.userName = userName;
    return { kind: 'user', user };
  }

  async #withPassword(
    exchange: Exchange,
    credentials: { readonly userName: string; readonly password: string },
    state: CatalogState,
  ): Promise<Identity> {
    const { userName, password } = credentials;
    const { remoteAddress } = exchange;
    this.#throttle.check(remoteAddress, userName);
    const user = state.users.get(userName);
    const isRight = await this.#passwords.check(userName, password, user?.passwordHash);
    if (!isRight || user === undefined) {
      this.#throttle.failed(remoteAddress, userName);
      throw new Unauthorized(AUTHORIZATION_FAILED);
    }
    this.#throttle.succeeded(remoteAddress, userName);
    exchange.userName = userName;
    return { kind: 'user', user };
  }
}

function hasAdmin(state: CatalogState): boolean {
  for (const user of state.users.values()) if (user.isAdmin) return true;
  return false;
}
