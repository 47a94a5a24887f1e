// Who may use the API when authentication is on: users of the default cluster of the database, whose credentials the
// database itself checks, holders of a token that was signed with the shared secret, and the database as a subscriber.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { AppError, Forbidden, Unauthorized } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Clusters } from './database/clusters.ts';
import type { QueryParams } from './http/params.ts';
import type { Metadata } from './metadata.ts';

/** User under which the database delivers what the engine subscribed to. */
export const SUBSCRIBER = '~subscriber';

/** Credentials that the database accepted are not asked for again for so long. */
const CACHE_MS = 600_000;
const CACHE_ENTRIES_MAX = 10_000;

export type AuthRequest = {
  readonly method: string;
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
  /** Until when credentials are known to be good, by their hash. */
  readonly #known = new Map<string, number>();

  private constructor(options: {
    readonly clusters: Clusters;
    readonly clock: Clock;
    readonly sharedSecret: string;
    readonly subscriberToken: string;
  }) {
    this.#clusters = options.clusters;
    this.#clock = options.clock;
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
      this.#checkToken(credentials.token);
      return;
    }
    if (credentials.username === '') throw new Unauthorized('username required');
    if (credentials.username === SUBSCRIBER) {
      this.#checkSubscriber(request, credentials.password);
      return;
    }
    await this.#checkPassword(credentials.username, credentials.password);
  }

  #checkSubscriber(request: AuthRequest, password: string): void {
    if (!isSame(password, this.#subscriberToken)) throw new Unauthorized('authorization failed');
    if (request.method === 'POST' && request.path.endsWith('/write')) return;
    throw new Forbidden(
      `user ${SUBSCRIBER} does not have privilege for API endpoint ${request.path}`,
    );
  }

  #checkToken(token: string): void {
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
  }

  async #checkPassword(username: string, password: string): Promise<void> {
    const key = createHash('sha256')
      .update(JSON.stringify([username, password]))
      .digest('base64');
    const now = this.#clock.monotonicMs();
    const until = this.#known.get(key);
    if (until !== undefined && until > now) return;
    try {
      const cluster = this.#clusters.cluster('');
      // Any statement tells whether the credentials are good; this one needs no privilege.
      await this.#clusters.show({ ...cluster, username, password, token: '' }, 'SHOW DATABASES');
    } catch (cause) {
      if (!(cause instanceof AppError)) throw cause;
      throw new Unauthorized('authorization failed', { cause });
    }
    if (this.#known.size >= CACHE_ENTRIES_MAX) this.#known.clear();
    this.#known.set(key, now + CACHE_MS);
  }
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
