// Copies a running InfluxDB 1.x server into a running Tidemark: schema first, then points, then the
// check.
import { randomBytes } from 'node:crypto';

import type { TsdbClient } from '@tidemark/client';
import { quoteIdentifier, quoteString } from '@tidemark/influxql';

import { copyRange, verifyMeasurement } from './copy-measurement.ts';
import type { Mismatch } from './copy-measurement.ts';
import { measurementsOf, piecesOf } from './pieces.ts';
import { policySettings, readDatabases, readSubscriptions, readUsers } from './source-schema.ts';
import type { SourceDatabase, SourceSubscription } from './source-schema.ts';
import type { ImportState } from './state.ts';

export type ImportServerOptions = {
  readonly from: TsdbClient;
  readonly to: TsdbClient;
  readonly state: Pick<ImportState, 'isDone' | 'finish'>;
  /** Empty copies all. */
  readonly databases: readonly string[];
  readonly hasUsers: boolean;
  /** Whether subscriptions, and so tasks, receive the points. */
  readonly notify: boolean;
  readonly onProgress: (progress: ImportProgress) => void;
};

export type ImportProgress = {
  readonly done: number;
  readonly total: number;
  readonly label: string;
  readonly points: number;
};

export type ImportReport = {
  readonly databases: number;
  readonly measurements: number;
  readonly points: number;
  readonly continuousQueries: number;
  /** Created users with their new passwords; passwords cannot be copied. */
  readonly users: readonly { readonly name: string; readonly password: string }[];
  /** Subscriptions of copied databases: their destinations have to be configured again. */
  readonly subscriptionsLeftOut: readonly SourceSubscription[];
  readonly mismatches: readonly Mismatch[];
};

/** Runs the import. Writing a point twice is harmless, so repeating a piece is safe. */
export async function importServer(options: ImportServerOptions): Promise<ImportReport> {
  const { from, to } = options;
  const databases = await readDatabases(from, options.databases);
  for (const database of databases) await createDatabase(to, database);
  const refs = await measurementsOf(from, databases);
  const pieces = await piecesOf(from, refs);
  let points = 0;
  for (const [i, piece] of pieces.entries()) {
    options.onProgress({ done: i, total: pieces.length, label: piece.ref.measurement, points });
    if (options.state.isDone(piece.name)) continue;
    const copied = await copyRange(from, to, piece, options.notify);
    points += copied;
    options.state.finish(piece.name, copied);
  }
  options.onProgress({ done: pieces.length, total: pieces.length, label: 'checking', points });
  const mismatches: Mismatch[] = [];
  for (const { ref, range } of pieces)
    mismatches.push(...(await verifyMeasurement(from, to, ref, range)));
  const continuousQueries = await createContinuousQueries(to, databases);
  const users = options.hasUsers ? await createUsers(from, to) : [];
  return {
    databases: databases.length,
    measurements: refs.length,
    points,
    continuousQueries,
    users,
    subscriptionsLeftOut: await readSubscriptions(
      from,
      databases.map(({ name }) => name),
    ),
    mismatches,
  };
}

/** Creates a database with its policies; existing ones get the same settings. */
export async function createDatabase(
  to: TsdbClient,
  { name, policies }: SourceDatabase,
): Promise<void> {
  const database = quoteIdentifier(name);
  await to.rows(`CREATE DATABASE ${database}`);
  const existing = new Set(
    (await to.rows(`SHOW RETENTION POLICIES ON ${database}`)).flatMap((series) =>
      (series.values ?? []).map(([policy]) => String(policy)),
    ),
  );
  for (const policy of policies) {
    const target = `RETENTION POLICY ${quoteIdentifier(policy.name)} ON ${database}`;
    const verb = existing.has(policy.name) ? 'ALTER' : 'CREATE';
    await to.rows(`${verb} ${target} ${policySettings(policy)}`);
  }
}

/** Creates continuous queries; returns their number. */
export async function createContinuousQueries(
  to: TsdbClient,
  databases: readonly SourceDatabase[],
): Promise<number> {
  let count = 0;
  for (const { continuousQueries } of databases) {
    for (const { text } of continuousQueries) {
      await to.rows(text);
      count++;
    }
  }
  return count;
}

/** Creates missing users with new passwords, and grants all rights. */
export async function createUsers(
  from: TsdbClient,
  to: TsdbClient,
): Promise<ImportReport['users']> {
  const existing = new Set(
    (await to.rows('SHOW USERS')).flatMap((series) =>
      (series.values ?? []).map(([name]) => String(name)),
    ),
  );
  const created: { name: string; password: string }[] = [];
  for (const user of await readUsers(from)) {
    const name = quoteIdentifier(user.name);
    if (!existing.has(user.name)) {
      const password = randomBytes(18).toString('base64url');
      await to.rows(
        `CREATE USER ${name} WITH PASSWORD ${quoteString(password)}${user.isAdmin ? ' WITH ALL PRIVILEGES' : ''}`,
      );
      created.push({ name: user.name, password });
    }
    for (const { database, privilege } of user.grants) {
      if (privilege === 'NO PRIVILEGES') continue;
      await to.rows(
        `GRANT ${privilege === 'ALL PRIVILEGES' ? 'ALL' : privilege} ON ${quoteIdentifier(database)} TO ${name}`,
      );
    }
  }
  return created;
}
