// Moves databases between running services, with any storage engines, during writes: the source
// forwards new writes from the beginning, existing data is copied meanwhile, and both are compared
// series by series until they are equal.
import type { TsdbClient } from '@tidemark/client';
import { quoteIdentifier, quoteString } from '@tidemark/influxql';

import { copyRange } from './copy-measurement.ts';
import { differingSeries } from './compare-series.ts';
import { createContinuousQueries, createDatabase, createUsers } from './import-server.ts';
import type { ImportProgress } from './import-server.ts';
import { measurementsOf, piecesOf } from './pieces.ts';
import type { Piece } from './pieces.ts';
import { readDatabases, readSubscriptions } from './source-schema.ts';
import type { SourceDatabase } from './source-schema.ts';
import type { ImportState } from './state.ts';

/** Name of the subscriptions that forward writes during a migration. */
const SUBSCRIPTION = 'tidemark_migrate';

/** How often a differing piece is copied again: others may be writing to it. */
const ROUNDS = 3;

export type MigrateOptions = {
  readonly from: TsdbClient;
  readonly to: TsdbClient;
  /** The target's address as seen from the source, with user and password. */
  readonly destination: string;
  readonly state: ImportState;
  /** Empty moves all. */
  readonly databases: readonly string[];
  /** Clients already use the target: stop forwarding writes, and create continuous queries. */
  readonly isLast: boolean;
  readonly hasUsers: boolean;
  readonly onProgress: (progress: ImportProgress) => void;
};

export type MigrateReport = {
  readonly databases: number;
  readonly pieces: number;
  readonly points: number;
  readonly series: number;
  readonly users: readonly { readonly name: string; readonly password: string }[];
  readonly continuousQueries: number;
  /** Series that still differ, with their piece. */
  readonly different: readonly string[];
};

export async function migrateServer(options: MigrateOptions): Promise<MigrateReport> {
  const { from, to, state } = options;
  const databases = await readDatabases(from, options.databases);
  for (const database of databases) await createDatabase(to, database);
  // Before anything is copied, so that no write is missed.
  await passOn(options, databases);
  const pieces = await piecesOf(from, await measurementsOf(from, databases));
  let points = 0;
  for (const [i, piece] of pieces.entries()) {
    const label = piece.ref.measurement;
    options.onProgress({ done: i, total: pieces.length * 2, label, points });
    if (state.isDone(piece.name)) continue;
    const copied = await copyRange(from, to, piece, false);
    points += copied;
    state.finish(piece.name, copied);
  }
  const different: string[] = [];
  let series = 0;
  for (const [i, piece] of pieces.entries()) {
    const label = `comparing ${piece.ref.measurement}`;
    options.onProgress({ done: pieces.length + i, total: pieces.length * 2, label, points });
    const result = await compared(options, piece);
    series += result.seriesCount;
    points += result.copied;
    different.push(...result.different.map((key) => `${piece.name} ${key}`));
  }
  const isOver = options.isLast && different.length === 0;
  if (isOver) await stopPassingOn(from, databases);
  return {
    databases: databases.length,
    pieces: pieces.length,
    points,
    series,
    users: options.hasUsers ? await createUsers(from, to) : [],
    continuousQueries: isOver ? await createContinuousQueries(to, databases) : 0,
    different,
  };
}

/** Points rewritten during the copy are copied again. */
async function compared({ from, to }: MigrateOptions, piece: Piece) {
  let copied = 0;
  for (let round = 1; ; round++) {
    const { different, seriesCount } = await differingSeries(from, to, piece);
    if (different.length === 0 || round > ROUNDS) return { different, seriesCount, copied };
    copied += await copyRange(from, to, piece, false);
  }
}

async function passOn(
  { from, destination }: MigrateOptions,
  databases: readonly SourceDatabase[],
): Promise<void> {
  const known = await passedOn(from, databases);
  for (const { name, policies } of databases) {
    for (const policy of policies) {
      const place = `${quoteIdentifier(name)}.${quoteIdentifier(policy.name)}`;
      if (known.has(place)) continue;
      await from.rows(
        `CREATE SUBSCRIPTION ${SUBSCRIPTION} ON ${place} DESTINATIONS ALL ${quoteString(destination)}`,
      );
    }
  }
}

async function stopPassingOn(
  from: TsdbClient,
  databases: readonly SourceDatabase[],
): Promise<void> {
  for (const place of await passedOn(from, databases))
    await from.rows(`DROP SUBSCRIPTION ${SUBSCRIPTION} ON ${place}`);
}

async function passedOn(
  from: TsdbClient,
  databases: readonly SourceDatabase[],
): Promise<ReadonlySet<string>> {
  const names = databases.map(({ name }) => name);
  const all = await readSubscriptions(from, names);
  return new Set(
    all.flatMap(({ name, database, policy }) =>
      name === SUBSCRIPTION ? [`${quoteIdentifier(database)}.${quoteIdentifier(policy)}`] : [],
    ),
  );
}
