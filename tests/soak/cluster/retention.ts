// Points that expire while others are written to the same policy: the old ones are removed, the
// others stay.
import { eventually, query } from '@tidemark/testkit';

import type { Client } from './client.ts';

const SERIES = 8;
/** Writes to the policy while its old points expire. */
const WRITES = 40;

const HOUR_NANOS = 3_600_000_000_000n;

/** A database of which the old points have expired; it expects so many recent ones. */
export type Expired = { readonly database: string; readonly count: number };

/** Writes old and recent points, and has the old ones expire while more recent ones come. */
export async function expire(
  client: Client,
  services: readonly string[],
  index: number,
): Promise<Expired> {
  const database = `expiring${index}`;
  await client.change(`CREATE DATABASE ${database} WITH DURATION INF SHARD DURATION 1h NAME p`);
  for (const tsdb of services)
    await eventually('the database', async () => {
      const found = await query(tsdb, 'SHOW DATABASES').catch(() => []);
      return JSON.stringify(found).includes(database) ? true : undefined;
    });
  const recent = BigInt(Date.now()) * 1_000_000n;
  const at = async (time: bigint): Promise<void> => {
    const lines = Array.from({ length: SERIES }, (_, i) => `m,s=${i} v=1 ${time}`);
    while ((await client.write(lines.join('\n'), database)) === undefined);
  };
  for (let day = 2n; day <= 4n; day++) await at(recent - day * 24n * HOUR_NANOS);
  const altering = client.change(`ALTER RETENTION POLICY p ON ${database} DURATION 1d`, database);
  for (let i = 0; i < WRITES; i++) await at(recent + BigInt(i));
  await altering;
  return { database, count: WRITES * SERIES };
}

/** Expired rows that still exist, and others that are missing. */
export async function expiryDifferences(
  tsdb: string,
  { database, count }: Expired,
): Promise<readonly string[]> {
  const found = await query(tsdb, 'SELECT count(v) FROM m', database);
  const actual = Number(found[0]?.values?.[0]?.[1] ?? 0);
  return actual === count ? [] : [`${database}: ${actual} points after expiry instead of ${count}`];
}
