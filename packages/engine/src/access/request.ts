// A request and its client, as far as they are known when rights are checked.
import type { QueryParams } from '../formats/params.ts';

/**
 * `open`: none. `ping`: any user. `statistics`: as `grant`, or none without
 * `http.pprof-auth-enabled`. `write`: to write to the database of the request. `grant`: any user
 * with a grant on a database. `data`: as `grant`, and READ on the databases of the returned data,
 * which the handler checks (`DataAccess`). `documents`: as `grant`; rights to change depend on the
 * document. `admin`: an admin.
 */
export type RouteRight =
  | 'open'
  | 'ping'
  | 'statistics'
  | 'write'
  | 'grant'
  | 'data'
  | 'documents'
  | 'admin';

/** The user whose credentials a request has. */
export type RequestUser = {
  readonly name: string;
  readonly isAdmin: boolean;
  /** Whether the user has a grant on any database. */
  readonly hasGrant: boolean;
  /**
   * Admins may also read databases that do not exist. Rejects when the database does not answer.
   */
  readonly canRead: (database: string) => Promise<boolean>;
};

/** A request before its body is read. */
export type AuthRequest = {
  readonly method: string;
  /**
   * Pattern of the endpoint as registered, under the stable base path where it has one: other
   * spellings of a URL have the same pattern.
   */
  readonly route: string;
  /** The right that the endpoint needs. */
  readonly right: RouteRight;
  readonly path: string;
  readonly query: QueryParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The client's address, for which wrong passwords are counted. */
  readonly address: string;
};

/**
 * Decides whether a request is allowed and returns its user if known; throws `Unauthorized`,
 * `Forbidden` or `LimitExceeded`.
 */
export type Authorize = (request: AuthRequest) => Promise<RequestUser | undefined> | undefined;

/** The user with which the database delivers writes for the engine's subscriptions. */
export const SUBSCRIBER = '~subscriber';
