// Deletes and definitions. Only one client creates and drops databases and policies, so it knows
// which exist; another one deletes rows at the same time.
import { DAY_NANOS, MEASUREMENTS, TAGS, TIMES } from '../cells.ts';
import type { Cell, Database } from '../cells.ts';
import { Finding } from '../round.ts';
import type { Result, Round } from '../round.ts';
import type { Sent } from '../ledger.ts';

/** A retention policy in which no row of the cells may be old enough, and one in which all are. */
export const KEEPS = 'DURATION INF SHARD DURATION 7d';
const EXPIRES = 'DURATION 1h SHARD DURATION 1h';

/** Makes what there is not of a database. Whether it worked. */
export async function define(round: Round, database: Database): Promise<boolean> {
  const results = [
    await round.query(`CREATE DATABASE ${database} WITH DURATION INF NAME p`),
    await round.query(`CREATE RETENTION POLICY q ON ${database} DURATION INF REPLICATION 1`),
  ];
  // A policy that is there may have been left altered.
  const isThere = (result: Result): boolean =>
    result.kind === 'series' ||
    (result.kind === 'refused' && result.reason.includes('already exists'));
  return results.every(isThere);
}

export async function deleteForever(round: Round, database: Database): Promise<void> {
  while (!round.isEnding) await deleteRows(round, database);
}

export async function changeForever(round: Round, database: Database): Promise<void> {
  // Weights.
  const kinds = [
    deleteRows,
    deleteRows,
    deleteRows,
    dropSeries,
    dropMeasurement,
    dropPolicy,
    dropDatabase,
    dropShard,
    expire,
  ];
  while (!round.isEnding) await round.one(kinds)(round, database);
}

/** Sends a statement that removes cells; whether it was acknowledged. */
async function remove(
  round: Round,
  { statement, database }: { readonly statement: string; readonly database: Database },
  where: (cell: Cell) => boolean,
): Promise<boolean> {
  const { ledger, mark, say } = round.attack;
  const sent = ledger.clear(statement, (cell) => cell.database === database && where(cell));
  say(`${database}: ${statement}`);
  const result = await round.query(statement, { db: database });
  const reason = result.kind === 'refused' ? `, ${result.reason}` : '';
  say(`${database}: ${statement}: ${result.kind}${reason}`);
  settle(sent, result);
  if (result.kind === 'series') mark(statement.replace(/^(\S+( [A-Z]+)?).*/, '$1'));
  return result.kind === 'series';
}

function settle(sent: Sent, { kind }: Result): void {
  if (kind === 'series') sent.acknowledged();
  else if (kind === 'refused') sent.refused();
  else sent.unknown();
}

async function deleteRows(round: Round, database: Database): Promise<void> {
  const measurement = round.pick(3) === 0 ? undefined : round.one(MEASUREMENTS);
  const tag = round.pick(2) === 0 ? round.one(TAGS) : undefined;
  const first = round.pick(TIMES);
  const times =
    round.pick(2) === 0 ? ([first, first + round.pick(TIMES - first)] as const) : undefined;
  const conditions = [
    ...(tag === undefined ? [] : [`t = '${tag}'`]),
    ...(times === undefined
      ? []
      : [`time >= ${DAY_NANOS * BigInt(times[0])} AND time <= ${DAY_NANOS * BigInt(times[1])}`]),
  ];
  if (measurement === undefined && conditions.length === 0) return dropMeasurement(round, database);
  const from = measurement === undefined ? '' : ` FROM ${measurement}`;
  const condition = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  await remove(
    round,
    { statement: `DELETE${from}${condition}`, database },
    (cell) =>
      (measurement === undefined || cell.measurement === measurement) &&
      (tag === undefined || cell.tag === tag) &&
      (times === undefined || (cell.time >= times[0] && cell.time <= times[1])),
  );
}

async function dropSeries(round: Round, database: Database): Promise<void> {
  const measurement = round.one(MEASUREMENTS);
  const tag = round.one(TAGS);
  await remove(
    round,
    { statement: `DROP SERIES FROM ${measurement} WHERE t = '${tag}'`, database },
    (cell) => cell.measurement === measurement && cell.tag === tag,
  );
}

async function dropMeasurement(round: Round, database: Database): Promise<void> {
  const measurement = round.one(MEASUREMENTS);
  await remove(
    round,
    { statement: `DROP MEASUREMENT ${measurement}`, database },
    (cell) => cell.measurement === measurement,
  );
}

async function dropPolicy(round: Round, database: Database): Promise<void> {
  const statement = `DROP RETENTION POLICY q ON ${database}`;
  await remove(round, { statement, database }, ({ policy }) => policy === 'q');
  await define(round, database);
}

async function dropDatabase(round: Round, database: Database): Promise<void> {
  await remove(round, { statement: `DROP DATABASE ${database}`, database }, () => true);
  await define(round, database);
}

/** One of the shards of the database; nobody else drops any. */
async function dropShard(round: Round, database: Database): Promise<void> {
  const shards = await round.query('SHOW SHARDS');
  if (shards.kind !== 'series') return;
  const rows = shards.series.flatMap(({ columns, values }) =>
    values.map((row) => new Map(row.map((value, i) => [columns[i], String(value)]))),
  );
  const own = rows.filter((row) => row.get('database') === database);
  if (own.length === 0) return;
  const shard = round.one(own);
  const text = (name: string): string => shard.get(name) ?? '';
  const days = (name: string): number => Date.parse(text(name)) / 86_400_000;
  const [start, end] = [days('start_time'), days('end_time')];
  if (Number.isNaN(start)) throw new Finding(`SHOW SHARDS says ${JSON.stringify([...shard])}`);
  await remove(
    round,
    { statement: `DROP SHARD ${text('id')}`, database },
    ({ policy, time }) => policy === text('retention_policy') && time >= start && time < end,
  );
}

/** Rows of `q` are too old for a while, and may go or not. */
async function expire(round: Round, database: Database): Promise<void> {
  const expiry = lingeringExpiry(round, database);
  const result = await round.query(`ALTER RETENTION POLICY q ON ${database} ${EXPIRES}`);
  round.attack.mark(`retention changed: ${result.kind}`);
  await new Promise((resolve) => setTimeout(resolve, round.pick(1500)));
  await keep(round, database, expiry);
}

type Lingering = Round['lingering'][number];

/**
 * Rows of `q` may go from now on. What retention has begun it may end at any time, in this round.
 * If the service ends before the way back, the next one has it from the catalog.
 */
export function lingeringExpiry(round: Round, database: Database): Lingering {
  const sent = round.attack.ledger.clear(
    'expiry',
    (cell) => cell.database === database && cell.policy === 'q',
  );
  const lingering = { end: sent.lingers(), lastRound: round.number + 1 };
  round.lingering.push(lingering);
  return lingering;
}

/** No row of `q` is too old any more, from the next round on at the latest. */
export async function keep(round: Round, database: Database, expiry: Lingering): Promise<void> {
  const result = await round.query(`ALTER RETENTION POLICY q ON ${database} ${KEEPS}`);
  if (result.kind === 'series') expiry.lastRound = round.number;
}
