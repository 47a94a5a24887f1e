// Authenticates requests and checks rights when authentication is on. Users are those of the
// default cluster of the database (with a password, an API token or a signed token), and the
// database itself as a subscriber. Users with a grant on a database may read, users with WRITE may
// write to that database, and admins may make changes.
import { LoginThrottle } from '@tidemark/process';
import { randomBytes } from 'node:crypto';
import { Forbidden, InvalidRequest, messageOf, Unauthorized } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Cluster } from '../config/cluster-section.ts';
import type { Caller } from '../config/config-overrides.ts';
import type { Clusters } from '../database/clusters.ts';
import { SUBSCRIBER } from '../access/request.ts';
import type { AuthRequest, RequestUser } from '../access/request.ts';
import type { Metadata } from '../store/metadata.ts';
import { readCredentials } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { DatabaseUsers, WrongCredentials } from './database-users.ts';
import { isSame, isSignedWithSecret, userOfToken } from '../access/web-token.ts';

export type AuthenticatorOptions = {
  readonly clusters: Clusters;
  readonly clock: Clock;
  readonly sharedSecret: string;
  /** Users that are admins with a token of the shared secret, without asking the database. */
  readonly tokenAdmins: readonly string[];
  /** `http.pprof-auth-enabled`. */
  readonly pprofAuthEnabled: boolean;
};

type User = RequestUser & {
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
    this.#throttle = new LoginThrottle({
      monotonicMs: () => options.clock.monotonicMs(),
      isWrong: (error) => error instanceof WrongCredentials,
    });
    this.#subscriberToken = subscriberToken;
  }

  /** The token of the subscriber is created once and stored with the metadata. */
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

  /**
   * Allows the request and returns its user, or throws `Unauthorized`, `Forbidden`, or
   * `LimitExceeded` after too many failures.
   */
  async authorize(request: AuthRequest): Promise<RequestUser | undefined> {
    const { right } = request;
    const isForAll =
      right === 'open' || (right === 'statistics' && !this.#options.pprofAuthEnabled);
    if (isForAll) return undefined;
    const user = await this.#identify(readCredentials(request), request.address);
    await checkRights(request, user);
    return user;
  }

  /**
   * Rejects with `InvalidRequest` clusters whose database would keep the caller from changing them
   * again: it does not answer, or has other users. Only users of tokens could log in to correct
   * that.
   */
  async checkClusters(elements: readonly Cluster[], caller: Caller): Promise<void> {
    const credentials = readCredentials(caller);
    const clusters = this.#options.clusters.withElements(elements);
    const next = new Authenticator({ ...this.#options, clusters }, this.#subscriberToken);
    try {
      if ((await next.#identify(credentials, caller.address)).isAdmin) return;
    } catch (error) {
      throw wouldLockOut(messageOf(error), error);
    }
    throw wouldLockOut('you are no admin there');
  }

  // Only passwords are throttled: signatures and tokens cannot be guessed, and a program whose
  // token has expired guesses nothing.
  async #identify(credentials: Credentials, address: string): Promise<User> {
    if (credentials.kind === 'web-token') return this.#withWebToken(credentials, address);
    if (credentials.kind === 'api-token' || credentials.name === SUBSCRIBER)
      return this.#known(credentials, address);
    const { name: userName, secret: password } = credentials;
    return this.#throttle.attempt({ address, userName, password }, () =>
      this.#known(credentials, address),
    );
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
      return { name, isAdmin: true, hasGrant: true, canRead: always, canWrite: always };
    return this.#known({ ...credentials, name }, address);
  }

  async #known({ name, secret, authorization }: Credentials, address: string): Promise<User> {
    if (name === SUBSCRIBER) {
      if (!isSame(secret, this.#subscriberToken)) throw new WrongCredentials();
      return { name, isAdmin: false, hasGrant: false, canRead: never, canWrite: always };
    }
    const claim = { authorization, address };
    const user = await this.#users.user(claim);
    return {
      ...user,
      name: user.name || name || 'of the token',
      // Looked up each time, because streams outlive rights.
      canRead: async (database) => (await this.#users.user(claim)).canRead(database),
    };
  }
}

function wouldLockOut(reason: string, cause?: unknown): InvalidRequest {
  return new InvalidRequest(
    `the default tsdb cluster says who may use the engine, and with this change it would let nobody in who could undo it: ${reason}`,
    { cause },
  );
}

const always = (): Promise<boolean> => Promise.resolve(true);
const never = (): Promise<boolean> => Promise.resolve(false);

async function checkRights(request: AuthRequest, user: User): Promise<void> {
  if (user.isAdmin) return;
  switch (request.right) {
    case 'write':
      return checkWrite(request.query.get('db'), user);
    case 'open':
      return;
    case 'ping':
      if (user.name !== SUBSCRIBER) return;
      break;
    case 'statistics':
    case 'grant':
    case 'data':
    case 'documents':
      if (user.hasGrant) return;
      break;
    case 'admin':
      break;
  }
  throw missingPrivilege(request, user.name);
}

async function checkWrite(database: string, user: User): Promise<void> {
  // The endpoint itself refuses a write without a database.
  if (database === '' || (await user.canWrite(database))) return;
  throw new Unauthorized(
    `${JSON.stringify(user.name)} user is not authorized to write to database ${JSON.stringify(database)}`,
  );
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
