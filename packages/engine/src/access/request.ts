// Who asks for what: what is known of a request when its rights are checked.
import type { QueryParams } from '../formats/params.ts';

/**
 * `open`: none. `ping`: any user. `statistics`: as `grant`, or none without
 * `http.pprof-auth-enabled`. `write`: to write to the database of the request. `grant`: any user
 * with a grant on a database. `data`: as `grant`, and READ on the databases of what is shown, which
 * the handler asks for (`DataAccess`). `documents`: as `grant`; what may be changed depends on the
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

/** Whom the credentials of a request belong to. */
export type RequestUser = {
  readonly name: string;
  readonly isAdmin: boolean;
  /** Whether any database was granted to the user. */
  readonly hasGrant: boolean;
  /** Admins may read databases that do not exist too. Rejects when the database does not answer. */
  readonly canRead: (database: string) => Promise<boolean>;
};

/** What is known of a request before its body has been looked at. */
export type AuthRequest = {
  readonly method: string;
  /**
   * Pattern of the endpoint as it was registered, under the stable base path where it has one: what
   * a client writes in other ways is the same endpoint.
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
 * Decides whether a request is allowed and returns its user where that is known; throws
 * `Unauthorized`, `Forbidden` or `LimitExceeded`.
 */
export type Authorize = (request: AuthRequest) => Promise<RequestUser | undefined> | undefined;

/** User under which the database delivers what the engine subscribed to. */
export const SUBSCRIBER = '~subscriber';
