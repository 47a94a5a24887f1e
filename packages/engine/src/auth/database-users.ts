// Asks the default cluster of the database whether credentials are valid and what they allow. A
// database with `/api/identity` is asked with the engine's own credentials, which must be an
// admin's, so that wrong passwords count against the client's address and not the engine's. Any
// other database is asked with the client's own credentials, which needs no rights of the engine.
import { createHash } from 'node:crypto';
import { LimitExceeded, Unauthorized } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { quoteIdentifier } from '@tidemark/influxql';
import type { Cluster } from '../config/cluster-section.ts';
import { asObject, parseJson } from '../formats/json.ts';
import type { Clusters } from '../database/clusters.ts';

/** The time for which an answer of the database is cached, and a revoked right stays valid. */
const CACHE_MS = 60_000;
const CACHE_ENTRIES_MAX = 10_000;

/** Credentials that are not valid. */
export class WrongCredentials extends Unauthorized {
  constructor(message = 'authorization failed') {
    super(message);
  }
}

/** Credentials as received: a header `Authorization`, and the client's address. */
type Claim = { readonly authorization: string; readonly address: string };

const NOBODY: Claim = { authorization: '', address: '' };

type DatabaseUser = {
  /** '' if the database did not return it. */
  readonly name: string;
  readonly isAdmin: boolean;
  /** Whether the user has a grant on any database. */
  readonly hasGrant: boolean;
  /**
   * Admins may also write to databases that do not exist. Rejects when the database does not
   * answer.
   */
  readonly canWrite: (database: string) => Promise<boolean>;
  /** The same for reading. */
  readonly canRead: (database: string) => Promise<boolean>;
};

/** A request that only users with a right may make. */
type Question = Omit<Parameters<Clusters['askAs']>[1], 'clientAddress'>;

type Identity = {
  readonly user: string;
  readonly admin: boolean;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
};

export class DatabaseUsers {
  readonly #clusters: Clusters;
  readonly #clock: Clock;
  #cluster: Cluster | undefined;
  /** Keyed by hash of the credentials; includes look-ups in progress. */
  readonly #users = new Map<string, { readonly user: Promise<DatabaseUser>; untilMs: number }>();
  /** Until this time the database is known to require credentials. */
  #isAskingUntilMs = 0;
  /** Until this time the database is known not to have `/api/identity`. */
  #isSilentUntilMs = 0;

  constructor(options: { readonly clusters: Clusters; readonly clock: Clock }) {
    this.#clusters = options.clusters;
    this.#clock = options.clock;
  }

  /**
   * Rejects with `Unauthorized` when the database refuses the credentials, `LimitExceeded` when
   * there were too many wrong ones, `Unavailable` when it does not answer.
   */
  async user(claim: Claim): Promise<DatabaseUser> {
    this.#followCluster();
    const key = keyOf(claim);
    const nowMs = this.#clock.monotonicMs();
    const known = this.#users.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.user;
    this.#users.delete(key);
    dropOldest(this.#users);
    const entry = { user: this.#look(claim, nowMs), untilMs: nowMs + CACHE_MS };
    this.#users.set(key, entry);
    try {
      return await entry.user;
    } catch (error) {
      // Asked again next time, unless another look-up has begun.
      if (this.#users.get(key) === entry) this.#users.delete(key);
      throw error;
    }
  }

  /** Drops answers of another database, or of this one to other credentials. */
  #followCluster(): void {
    const cluster = this.#clusters.default;
    if (cluster === undefined)
      throw new Unauthorized('authorization failed: there is no default cluster that knows users');
    if (cluster === this.#cluster) return;
    this.#cluster = cluster;
    this.#users.clear();
    this.#isAskingUntilMs = 0;
    this.#isSilentUntilMs = 0;
  }

  async #look(claim: Claim, nowMs: number): Promise<DatabaseUser> {
    return (await this.#identify(claim, nowMs)) ?? (await this.#askAs(claim, nowMs));
  }

  /** `undefined` if the database does not have this endpoint. */
  async #identify(claim: Claim, nowMs: number): Promise<DatabaseUser | undefined> {
    if (this.#isSilentUntilMs > nowMs || !this.#clusters.hasOwnCredentials()) return undefined;
    const { status, body } = await this.#clusters.identify(claim);
    if (status === 409) throw isOpen();
    const identity = status === 200 ? readIdentity(body) : undefined;
    if (identity === undefined) {
      this.#isSilentUntilMs = nowMs + CACHE_MS;
      return undefined;
    }
    const { user, admin, reads, writes } = identity;
    return {
      name: user,
      isAdmin: admin,
      hasGrant: admin || reads.length > 0 || writes.length > 0,
      canWrite: (database) => Promise.resolve(admin || writes.includes(database)),
      canRead: (database) => Promise.resolve(admin || reads.includes(database)),
    };
  }

  async #askAs(claim: Claim, nowMs: number): Promise<DatabaseUser> {
    await this.#checkAsks(nowMs);
    // The first statement needs no right and lists granted databases, the second needs an admin.
    const databases = await this.#answer(claim, 'SHOW DATABASES');
    if (databases === undefined) throw new WrongCredentials();
    const isAdmin = (await this.#answer(claim, 'SHOW USERS')) !== undefined;
    const hasGrant = isAdmin || listsDatabases(databases);
    const allowed = (questionAbout: (database: string) => Question) =>
      isAdmin ? () => Promise.resolve(true) : this.#allowed(claim, questionAbout);
    return {
      name: '',
      isAdmin,
      hasGrant,
      // Without a line nothing is written, but the answer is the same as with one.
      canWrite: allowed((db) => ({ method: 'POST', path: '/write', params: { db }, body: '' })),
      canRead: allowed((db) => ({
        method: 'GET',
        path: '/query',
        params: { q: `SHOW RETENTION POLICIES ON ${quoteIdentifier(db)}` },
      })),
    };
  }

  /** Whether the database allows a user's request about one of its databases. */
  #allowed(
    { authorization, address: clientAddress }: Claim,
    questionAbout: (database: string) => Question,
  ): (database: string) => Promise<boolean> {
    const answers = new Map<string, boolean>();
    return async (database) => {
      const known = answers.get(database);
      if (known !== undefined) return known;
      const request = { ...questionAbout(database), clientAddress };
      const { status } = await this.#clusters.askAs(authorization, request);
      const isAllowed = status === 200 || status === 204;
      dropOldest(answers);
      answers.set(database, isAllowed);
      return isAllowed;
    };
  }

  /** A database without authentication accepts every password, which proves nothing. */
  async #checkAsks(nowMs: number): Promise<void> {
    if (this.#isAskingUntilMs > nowMs) return;
    if ((await this.#answer(NOBODY, 'SHOW DATABASES')) !== undefined) throw isOpen();
    this.#isAskingUntilMs = nowMs + CACHE_MS;
  }

  /** The answer to a statement; `undefined` when the database refuses to answer it. */
  async #answer({ authorization, address }: Claim, statement: string): Promise<string | undefined> {
    const { status, body } = await this.#clusters.askAs(authorization, {
      method: 'GET',
      path: '/query',
      params: { q: statement },
      clientAddress: address === '' ? undefined : address,
    });
    if (status === 429) throw tooManyFailures('too many failed logins; try again later');
    return status === 200 ? body : undefined;
  }
}

function dropOldest(cache: Map<string, unknown>): void {
  const oldest = cache.keys().next().value;
  if (cache.size >= CACHE_ENTRIES_MAX && oldest !== undefined) cache.delete(oldest);
}

function keyOf({ authorization }: Claim): string {
  return createHash('sha256').update(authorization).digest('base64');
}

function isOpen(): Unauthorized {
  return new Unauthorized(
    'authorization failed: the database has no authentication, so that it knows no users',
  );
}

function tooManyFailures(reason: string): LimitExceeded {
  return new LimitExceeded(reason, 'http.auth-enabled');
}

/** Whether an answer to SHOW DATABASES has a row. */
function listsDatabases(body: string): boolean {
  const answer = asObject(parseJson(Buffer.from(body), ''), 'no object') as {
    readonly results?: readonly { readonly series?: readonly { readonly values?: unknown[] }[] }[];
  };
  return (answer.results?.[0]?.series?.[0]?.values?.length ?? 0) > 0;
}

/** `undefined` if it is no answer to the question: the server is another product. */
function readIdentity(body: string): Identity | undefined {
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = asObject(parseJson(Buffer.from(body), ''), 'no object');
  } catch {
    return undefined;
  }
  const { user, admin, reads, writes, reason, throttled } = fields;
  const hasLists = Array.isArray(reads) && Array.isArray(writes);
  if (typeof user === 'string' && typeof admin === 'boolean' && hasLists)
    return { user, admin, reads: reads.map(String), writes: writes.map(String) };
  if (user !== null || typeof reason !== 'string') return undefined;
  throw throttled === true ? tooManyFailures(reason) : new WrongCredentials(reason);
}
