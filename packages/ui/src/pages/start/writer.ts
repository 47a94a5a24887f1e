// What a program needs to write: the address of the database, and a token that may only write.
import { formatIdentifier, quoteString } from '@tidemark/influxql';

import { tsdb } from '../../api/clients.ts';
import { SERVER_PATH } from '../../api/paths.ts';

const NEAR = /^(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])$/;

/**
 * Address of the database, as other machines may know it: what it listens on for this machine alone
 * or for all has the name by which the page is reached.
 */
export async function databaseAddress(signal: AbortSignal): Promise<string> {
  const response = await fetch(`${SERVER_PATH}api/addresses`, { signal });
  const { tsdb: found } = (await response.json()) as { readonly tsdb: string | null };
  if (found === null) return '';
  const url = new URL(found);
  if (NEAR.test(url.hostname)) url.hostname = location.hostname;
  return url.origin;
}

/**
 * Makes the database unless it is there, a user who may write into it, and a token of that user.
 * The password is known to nobody: the token is all that is needed, and is revoked alone.
 */
export async function makeWriter(
  database: string,
): Promise<{ readonly user: string; readonly token: string }> {
  const suffix = crypto.randomUUID().slice(0, 8);
  const user = `${database}-writer-${suffix}`;
  const name = formatIdentifier(user);
  const statements = [
    `CREATE DATABASE ${formatIdentifier(database)}`,
    `CREATE USER ${name} WITH PASSWORD ${quoteString(crypto.randomUUID())}`,
    `GRANT WRITE ON ${formatIdentifier(database)} TO ${name}`,
  ];
  for (const statement of statements) await tsdb.rows(statement);
  const { token } = await tsdb.http.json<{ readonly token: string }>('/api/tokens', {
    method: 'POST',
    json: { name: user, user },
  });
  return { user, token };
}
