// What a program needs to write: the address of the database, and a write-only token.
import { formatIdentifier, quoteString } from '@tidemark/influxql';

import { tsdb } from '../../api/clients.ts';
import { SERVER_PATH } from '../../api/paths.ts';

const LOCAL_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])$/;

/**
 * Address of the database for other machines: if it listens on loopback or on all interfaces, with
 * the host name of this page.
 */
export async function databaseAddress(signal: AbortSignal): Promise<string> {
  const response = await fetch(`${SERVER_PATH}api/addresses`, { signal });
  const { tsdb: found } = (await response.json()) as { readonly tsdb: string | null };
  if (found === null) return '';
  const url = new URL(found);
  if (LOCAL_HOST.test(url.hostname)) url.hostname = location.hostname;
  return url.origin;
}

/**
 * Creates the database if it is missing, a user who may write into it, and a token of that user.
 * Nobody knows the password: the token suffices, and can be revoked on its own.
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
