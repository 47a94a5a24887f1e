// Texts that existing clients match on. They are recorded; changing one breaks somebody's retry
// logic.

export const AUTHORIZATION_FAILED = 'authorization failed';
export const CONTINUOUS_QUERY_EXISTS = 'continuous query already exists';
export const CREATE_ADMIN_FIRST =
  'error authorizing query: create admin user first or disable authentication';
export const DATABASE_REQUIRED = 'database is required';
export const DATABASE_NAME_REQUIRED = 'database name required';
export const ENTITY_TOO_LARGE = 'Request Entity Too Large';
export const INVALID_CONSISTENCY = 'invalid consistency level';
export const INVALID_NAME = 'invalid name';
export const METHOD_NOT_ALLOWED = 'Method Not Allowed';
export const PAGE_NOT_FOUND = '404 page not found';
export const MISSING_QUERY = 'missing required parameter "q"';
export const POLICY_CONFLICT = 'retention policy conflicts with an existing policy';
export const POLICY_EXISTS = 'retention policy already exists';
export const POLICY_TOO_SHORT = 'retention policy duration must be at least 1h0m0s';
export const POLICY_SHORTER_THAN_SHARD =
  'retention policy duration must be greater than the shard duration';
export const QUERY_INTERRUPTED = 'query interrupted';
export const QUERY_SHUTDOWN = 'query engine shutdown';
export const QUERY_TIMEOUT = 'query-timeout limit exceeded';
export const SUBSCRIPTION_EXISTS = 'subscription already exists';
export const SUBSCRIPTION_NOT_FOUND = 'subscription not found';
export const THROTTLED_QUEUE_FULL = 'request throttled, queue full';
export const THROTTLED_TIMEOUT = 'request throttled, exceeds timeout';
export const USER_EXISTS = 'user already exists';
export const USER_NOT_FOUND = 'user not found';
export const USERNAME_REQUIRED = 'username required';
export const WRITE_TIMEOUT = 'timeout';

export const databaseNotFound = (database: string): string => `database not found: ${database}`;
export const policyNotFound = (policy: string): string => `retention policy not found: ${policy}`;
export const invalidSubscriptionUrl = (url: string): string => `invalid subscription URL: ${url}`;
/** The start of the reason for a point whose field had another type before. */
export const TYPE_CONFLICT = 'field type conflict: ';
export const partialWrite = (reason: string, dropped: number): string =>
  `partial write: ${reason} dropped=${dropped}`;
export const deprecatedGet = (statement: string): string =>
  `deprecated use of '${statement}' in a read only context, please use a POST request instead`;
