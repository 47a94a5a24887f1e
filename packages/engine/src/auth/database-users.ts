// What the default cluster of the database says about who asks the engine: whether the credentials are good, and what
// they allow there. The database is asked as that user, so the engine needs no rights of its own to find out.
import { createHash } from 'node:crypto';
import { Unauthorized } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { Clusters } from './clusters.ts';

/** For so long an answer of the database counts, and a right that was taken away goes on. */
const CACHE_MS = 60_000;
const CACHE_ENTRIES_MAX = 10_000;

type DatabaseUser = {
  readonly isAdmin: boolean;
  /** Databases that were asked about, with the answer. */
  readonly canWrite: Map<string, boolean>;
  readonly untilMs: number;
};

export class DatabaseUsers {
  readonly #clusters: Clusters;
  readonly #clock: Clock;
  /** By hash of the credentials. */
  readonly #users = new Map<string, DatabaseUser>();
  /** Until when the database is known to ask for credentials itself. */
  #isAskingUntilMs = 0;

  constructor(options: { readonly clusters: Clusters; readonly clock: Clock }) {
    this.#clusters = options.clusters;
    this.#clock = options.clock;
  }

  /** Throws `Unauthorized` when the database refuses the credentials, `Unavailable` when it does not answer. */
  async isAdmin(authorization: string): Promise<boolean> {
    return (await this.#user(authorization)).isAdmin;
  }

  /** As `isAdmin`; admins may write to databases that do not exist too. */
  async canWrite(authorization: string, database: string): Promise<boolean> {
    const user = await this.#user(authorization);
    if (user.isAdmin) return true;
    const known = user.canWrite.get(database);
    if (known !== undefined) return known;
    // Without a line nothing is written, but the database answers as it would with one.
    const params = { db: database };
    const request = { method: 'POST', path: '/write', params, body: '' } as const;
    const status = await this.#clusters.statusAs(authorization, request);
    const isAllowed = status === 200 || status === 204;
    if (user.canWrite.size >= CACHE_ENTRIES_MAX) user.canWrite.clear();
    user.canWrite.set(database, isAllowed);
    return isAllowed;
  }

  async #user(authorization: string): Promise<DatabaseUser> {
    const key = createHash('sha256').update(authorization).digest('base64');
    const nowMs = this.#clock.monotonicMs();
    const known = this.#users.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known;
    await this.#checkAsks(nowMs);
    // The first statement needs no right, the second an admin.
    if (!(await this.#isAnswered(authorization, 'SHOW DATABASES')))
      throw new Unauthorized('authorization failed');
    const user = {
      isAdmin: await this.#isAnswered(authorization, 'SHOW USERS'),
      canWrite: new Map<string, boolean>(),
      untilMs: nowMs + CACHE_MS,
    };
    if (this.#users.size >= CACHE_ENTRIES_MAX) this.#users.clear();
    this.#users.set(key, user);
    return user;
  }

  /** A database whose own authentication is off takes every password, which proves nothing. */
  async #checkAsks(nowMs: number): Promise<void> {
    if (this.#isAskingUntilMs > nowMs) return;
    if (await this.#isAnswered('', 'SHOW DATABASES')) {
      throw new Unauthorized(
        'authorization failed: the database has no authentication, so that it knows no users',
      );
    }
    this.#isAskingUntilMs = nowMs + CACHE_MS;
  }

  async #isAnswered(authorization: string, statement: string): Promise<boolean> {
    const request = { method: 'GET', path: '/query', params: { q: statement } } as const;
    return (await this.#clusters.statusAs(authorization, request)) === 200;
  }
}
