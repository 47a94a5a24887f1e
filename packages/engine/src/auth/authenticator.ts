// Who may use the API when authentication is on, and for what: users of the default cluster of the database with a
// password or a token that was signed with the shared secret, and the database as a subscriber. Users read, write where
// the database lets them write, and change something as admins.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Forbidden, Unauthorized } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Clusters } from './database/clusters.ts';
import { DatabaseUsers } from './database/database-users.ts';
import { BASE } from './http/routes.ts';
import type { QueryParams } from './http/params.ts';
import type { Metadata } from './metadata.ts';

/** User under which the database delivers what the engine subscribed to. */
export const SUBSCRIBER = '~subscriber';

const WRITE_ROUTES: ReadonlySet<string> = new Set(['/write', `${BASE}/write`]);

/** Read by admins only: the backup has every secret that is stored, the memory of the process all others. */
const ADMIN_ROUTES: readonly string[] = [`${BASE}/storage/backup`, `${BASE}/debug/pprof/`];

export type AuthRequest = {
  readonly method: string;
  /** Pattern of the endpoint, under the stable base path where it has one. */
  readonly route: string;
  readonly path: string;
  readonly query: QueryParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

type Credentials =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  | { readonly kind: 'token'; readonly token: string };

export class Authenticator {
  readonly #clusters: Clusters;
  readonly #clock: Clock;
  readonly #sharedSecret: string;
  readonly #subscriberToken: string;
  readonly #users: DatabaseUsers;

  private constructor(options: {
    readonly clusters: Clusters;
    readonly clock: Clock;
    readonly sharedSecret: string;
    readonly subscriberToken: string;
  }) {
    this.#clusters = options.clusters;
    this.#clock = options.clock;
    this.#users = new DatabaseUsers(options);
    this.#sharedSecret = options.sharedSecret;
    this.#subscriberToken = options.subscriberToken;
  }

  /** The token of the subscriber is made once and kept with the metadata. */
  static async open(options: {
    readonly clusters: Clusters;
    readonly clock: Clock;
    readonly sharedSecret: string;
    readonly metadata: Metadata;
  }): Promise<Authenticator> {
    const table = options.metadata.table<{ readonly token: string }>('subscriber-token');
    let stored = table.get('token');
    if (stored === undefined) {
      stored = { token: randomBytes(24).toString('base64url') };
      await table.put('token', stored);
    }
    return new Authenticator({ ...options, subscriberToken: stored.token });
  }

  get subscriberToken(): string {
    return this.#subscriberToken;
  }

  /** Lets the request pass or throws `Unauthorized` or `Forbidden`. */
  async authorize(request: AuthRequest): Promise<void> {
    const credentials = readCredentials(request);
    if (credentials.kind === 'token') {
      const name = this.#checkToken(credentials.token);
      // Without a database nobody has users, and the secret is known to who runs the engine only.
      if (!this.#hasUsers()) return;
      await this.#checkRights(request, name, `Bearer ${credentials.token}`);
      return;
    }
    const { username, password } = credentials;
    if (username === '') throw new Unauthorized('username required');
    if (username === SUBSCRIBER) {
      this.#checkSubscriber(request, password);
      return;
    }
    if (!this.#hasUsers()) throw new Unauthorized('authorization failed');
    const pair = Buffer.from(`${username}:${password}`).toString('base64');
    await this.#checkRights(request, username, `Basic ${pair}`);
  }

  #hasUsers(): boolean {
    return this.#clusters.elements.length > 0;
  }

  #checkSubscriber(request: AuthRequest, password: string): void {
    if (!isSame(password, this.#subscriberToken)) throw new Unauthorized('authorization failed');
    if (isWrite(request)) return;
    throw missingPrivilege(request, SUBSCRIBER);
  }

  async #checkRights(request: AuthRequest, name: string, authorization: string): Promise<void> {
    const isAdmin = await this.#users.isAdmin(authorization);
    if (isAdmin) return;
    if (isWrite(request)) {
      const database = request.query.get('db');
      // The endpoint itself refuses a write without a database.
      if (database === '' || (await this.#users.canWrite(authorization, database))) return;
      throw new Unauthorized(
        `${JSON.stringify(name)} user is not authorized to write to database ${JSON.stringify(database)}`,
      );
    }
    if (privilegeOf(request.method) !== 'read' || isForAdmins(request))
      throw missingPrivilege(request, name);
  }

  /** The user that a token names. */
  #checkToken(token: string): string {
    if (this.#sharedSecret === '')
      throw new Unauthorized('bearer auth disabled. Set http.shared-secret');
    const [header = '', payload = '', signature = '', ...more] = token.split('.');
    if (more.length > 0) throw new Unauthorized('invalid token: wrong number of segments');
    const { alg } = decodePart(header);
    const hash = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' }[String(alg)];
    if (hash === undefined) throw new Unauthorized('invalid token: unexpected signing method');
    const expected = createHmac(hash, this.#sharedSecret)
      .update(`${header}.${payload}`)
      .digest('base64url');
    if (!isSame(signature, expected)) throw new Unauthorized('invalid token: signature is invalid');
    const { exp, username } = decodePart(payload);
    if (typeof exp !== 'number') throw new Unauthorized('token expiration required');
    if (exp * 1000 <= Number(this.#clock.now() / 1_000_000n))
      throw new Unauthorized('invalid token: token is expired');
    if (username === undefined || username === '')
      throw new Unauthorized('token must contain a username');
    if (typeof username !== 'string') throw new Unauthorized('username in token must be a string');
    return username;
  }
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

function readCredentials({ query, headers }: AuthRequest): Credentials {
  const [header] = [headers['authorization']].flat();
  if (header !== undefined) {
    const space = header.indexOf(' ');
    const scheme = header.slice(0, Math.max(0, space)).toLowerCase();
    const value = header.slice(space + 1).trim();
    if (scheme === 'bearer') return { kind: 'token', token: value };
    if (scheme === 'basic') {
      const text = Buffer.from(value, 'base64').toString('utf8');
      const colon = text.indexOf(':');
      if (colon >= 0) {
        return {
          kind: 'password',
          username: text.slice(0, colon),
          password: text.slice(colon + 1),
        };
      }
    }
    throw new Unauthorized('unable to parse authentication credentials');
  }
  if (query.has('u'))
    return { kind: 'password', username: query.get('u'), password: query.get('p') };
  throw new Unauthorized('unable to parse authentication credentials');
}

function decodePart(part: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    if (value !== null && typeof value === 'object') return { ...value };
  } catch {
    // Said below.
  }
  throw new Unauthorized('invalid token: segment is not JSON');
}

function isSame(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
