// Who may use the API when authentication is on, and for what: users of the default cluster of the database with a
// password, an API token or a signed token, and the database as a subscriber. Users read, write where the database
// lets them write, and change something as admins.
import { randomBytes } from 'node:crypto';
import { Forbidden, LoginThrottle, Unauthorized } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Clusters } from '../database/clusters.ts';
import { BASE } from '../http/routes.ts';
import type { AuthRequest } from '../http/server.ts';
import type { Metadata } from '../metadata.ts';
import { readCredentials } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { DatabaseUsers, WrongCredentials } from './database-users.ts';
import { isSame, isSignedWithSecret, userOfToken } from './web-token.ts';

/** User under which the database delivers what the engine subscribed to. */
export const SUBSCRIBER = '~subscriber';

const WRITE_ROUTES: ReadonlySet<string> = new Set(['/write', `${BASE}/write`]);

/** Read by admins only: the backup has every secret that is stored, the memory of the process all others. */
const ADMIN_ROUTES: readonly string[] = [`${BASE}/storage/backup`, `${BASE}/debug/pprof/`];

export type AuthenticatorOptions = {
  readonly clusters: Clusters;
  readonly clock: Clock;
  readonly sharedSecret: string;
  /** Users whom tokens of the shared secret make admins without the database being asked. */
  readonly tokenAdmins: readonly string[];
};

type User = {
  readonly name: string;
  readonly isAdmin: boolean;
  readonly canRead: boolean;
  readonly canWrite: (database: string) => Promise<boolean>;
};

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #subscriberToken: string;
  readonly #users: DatabaseUsers;
  readonly #throttle: LoginThrottle;

  private constructor(options: AuthenticatorOptions, subscriberToken: string) {
    this.#options = options;
    this.#users = new DatabaseUsers(options);
    this.#throttle = new LoginThrottle(() => options.clock.monotonicMs());
    this.#subscriberToken = subscriberToken;
  }

  /** The token of the subscriber is made once and kept with the metadata. */
  static async open(
    options: AuthenticatorOptions & { readonly metadata: Metadata },
  ): Promise<Authenticator> {
    const table = options.metadata.table<{ readonly token: string }>('subscriber-token');
    let stored = table.get('token');
    if (stored === undefined) {
      stored = { token: randomBytes(24).toString('base64url') };
      await table.put('token', stored);
    }
    return new Authenticator(options, stored.token);
  }

  get subscriberToken(): string {
    return this.#subscriberToken;
  }

  /** Lets the request pass or throws `Unauthorized`, `Forbidden`, or `LimitExceeded` after too many failures. */
  async authorize(request: AuthRequest): Promise<void> {
    await checkRights(request, await this.#identify(readCredentials(request), request.address));
  }

  // Only what can be guessed is braked: signatures can not, and a program whose token has expired guesses nothing.
  async #identify(credentials: Credentials, address: string): Promise<User> {
    if (credentials.kind === 'web-token') return this.#withWebToken(credentials, address);
    const who = credentials.name || credentials.kind;
    this.#throttle.check(address, who);
    try {
      const user = await this.#known(credentials, address);
      this.#throttle.succeeded(address, who);
      return user;
    } catch (error) {
      if (error instanceof WrongCredentials) this.#throttle.failed(address, who);
      throw error;
    }
  }

  async #withWebToken(credentials: Credentials, address: string): Promise<User> {
    const { sharedSecret, tokenAdmins, clock } = this.#options;
    const token = credentials.secret;
    if (sharedSecret === '' || !isSignedWithSecret(token)) {
      // The database may have keys of its own.
      return this.#known(credentials, address);
    }
    const name = userOfToken(token, sharedSecret, Number(clock.now() / 1_000_000_000n));
    if (tokenAdmins.includes(name))
      return { name, isAdmin: true, canRead: true, canWrite: () => Promise.resolve(true) };
    return this.#known({ ...credentials, name }, address);
  }

  async #known({ name, secret, authorization }: Credentials, address: string): Promise<User> {
    if (name === SUBSCRIBER) {
      if (!isSame(secret, this.#subscriberToken)) throw new WrongCredentials();
      return { name, isAdmin: false, canRead: false, canWrite: () => Promise.resolve(true) };
    }
    const user = await this.#users.user({ authorization, address });
    return { ...user, name: user.name || name || 'of the token', canRead: true };
  }
}

async function checkRights(request: AuthRequest, user: User): Promise<void> {
  if (user.isAdmin) return;
  if (isWrite(request)) {
    const database = request.query.get('db');
    // The endpoint itself refuses a write without a database.
    if (database === '' || (await user.canWrite(database))) return;
    throw new Unauthorized(
      `${JSON.stringify(user.name)} user is not authorized to write to database ${JSON.stringify(database)}`,
    );
  }
  if (!user.canRead || privilegeOf(request.method) !== 'read' || isForAdmins(request))
    throw missingPrivilege(request, user.name);
}

function isWrite({ method, route }: AuthRequest): boolean {
  return method === 'POST' && WRITE_ROUTES.has(route);
}

function isForAdmins({ route }: AuthRequest): boolean {
  return ADMIN_ROUTES.some((prefix) => route.startsWith(prefix));
}

function privilegeOf(method: string): 'read' | 'write' | 'delete' {
  if (method === 'GET' || method === 'HEAD') return 'read';
  return method === 'DELETE' ? 'delete' : 'write';
}

function missingPrivilege({ method, path }: AuthRequest, name: string): Forbidden {
  return new Forbidden(
    `user ${name} does not have "${privilegeOf(method)}" privilege for API endpoint ${JSON.stringify(path)}`,
  );
}
