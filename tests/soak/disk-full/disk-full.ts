// Fills the disk of a database again and again: every round writes until writes are refused, stops
// or kills the service, starts it on the full disk, and frees space with one of the statements that
// can. Acknowledged rows that were not dropped exist all the time, statements that free space work,
// and afterwards writes are accepted.
import { query, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { makeSmallDisk } from './small-disk.ts';

const MEBIBYTE = 1 << 20;
const ROWS_PER_WRITE = 4000;
/**
 * So many refusals follow each other before the disk counts as full: some room may come back by a
 * flush.
 */
const REFUSALS = 5;
const NO_SPACE = /no space left on device/;
/** A sixth of the disk is kept free; rows go to segments before the log is larger than that. */
const SETTINGS = { TIDEMARK_DATA_MEMTABLE_MAX_SIZE: '1m', TIDEMARK_DATA_WAL_MAX_SIZE: '2m' };

export type DiskFullResult = {
  readonly rounds: number;
  readonly isMounted: boolean;
  readonly rowsAcknowledged: number;
  readonly refused: number;
  readonly kills: number;
};

/**
 * Acknowledged rows by database. `sent` may be more than `kept`: of a refused write a part may have
 * been stored.
 */
type Rows = { kept: number; sent: number };

type Freeing = (tsdb: string, database: string) => Promise<void>;

/** Actions that free space; each leaves at most the database's name. */
const FREEING: readonly Freeing[] = [
  async (tsdb, database) => void (await query(tsdb, `DROP DATABASE ${database}`)),
  async (tsdb, database) => {
    await query(tsdb, `DROP RETENTION POLICY main ON ${database}`);
  },
  async (tsdb, database) => {
    const shards = await query(tsdb, 'SHOW SHARDS');
    const [series] = shards.filter(({ name }) => name === database);
    for (const [id] of series?.values ?? []) await query(tsdb, `DROP SHARD ${String(id)}`);
  },
];

export type DiskFullOptions = {
  readonly rounds: number;
  readonly diskMebibytes: number;
  /** Mount a file system where this user may. */
  readonly mounts: boolean;
  readonly random: () => number;
  readonly say: (line: string) => void;
};

/** Throws when anything is not as it should be. */
export async function soakFullDisk({
  rounds,
  diskMebibytes,
  mounts,
  random,
  say,
}: DiskFullOptions): Promise<DiskFullResult> {
  const disk = await makeSmallDisk(diskMebibytes * MEBIBYTE, { mounts });
  const reserve = { TIDEMARK_DATA_RESERVE_SIZE: `${diskMebibytes / 6}m` };
  const start = (): Promise<Tidemark> =>
    startTidemark({
      command: 'tsdb',
      directory: disk.directory,
      args: ['--log-level', 'error'],
      environment: { ...disk.environment, ...SETTINGS, ...reserve },
    });
  const databases = new Map<string, Rows>();
  const result = { rowsAcknowledged: 0, refused: 0, kills: 0 };
  let server = await start();
  try {
    for (let round = 0; round < rounds; round++) {
      for (const name of [`old${round}`, `new${round}`]) {
        await query(server.tsdb, `CREATE DATABASE ${name} WITH DURATION INF NAME main`);
        databases.set(name, { kept: 0, sent: 0 });
      }
      await fill(server.tsdb, databases, { random, result });
      await check(server.tsdb, databases);
      if (round % 2 === 0) {
        await server.kill();
        result.kills++;
      } else await server.stop();
      server = await start();
      await check(server.tsdb, databases);
      await query(server.tsdb, `DELETE FROM gone WHERE time < 5`, `new${round}`);
      for (const database of [...databases.keys()].filter((name) => !name.endsWith(`w${round}`))) {
        await FREEING[Math.floor(random() * FREEING.length)]!(server.tsdb, database);
        databases.delete(database);
      }
      await check(server.tsdb, databases);
      await writeRows(server.tsdb, `new${round}`, { databases, random });
      await check(server.tsdb, databases);
      say(`round ${round + 1}: ${JSON.stringify(result)}`);
    }
    return { rounds, isMounted: disk.isMounted, ...result };
  } finally {
    await server.kill();
    await disk.remove();
  }
}

/** Writes to all databases in turn until nothing is taken. */
async function fill(
  tsdb: string,
  databases: Map<string, Rows>,
  {
    random,
    result,
  }: { random: () => number; result: { rowsAcknowledged: number; refused: number } },
): Promise<void> {
  const names = [...databases.keys()];
  for (let i = 0, refusals = 0; refusals < REFUSALS; i++) {
    const name = names[i % names.length]!;
    try {
      await writeRows(tsdb, name, { databases, random });
      result.rowsAcknowledged += ROWS_PER_WRITE;
      refusals = 0;
    } catch (error) {
      if (!NO_SPACE.test(String(error))) throw error;
      refusals++;
      result.refused++;
    }
  }
}

/** Throws with the answer when it is not 204. */
async function writeRows(
  tsdb: string,
  database: string,
  { databases, random }: { databases: Map<string, Rows>; random: () => number },
): Promise<void> {
  const rows = databases.get(database)!;
  const lines = Array.from({ length: ROWS_PER_WRITE }, (_, i) => {
    return `m,t=${i % 10} v=${random()} ${rows.sent + i + 10}`;
  });
  rows.sent += ROWS_PER_WRITE;
  const answer = await fetch(`${tsdb}/write?db=${database}`, {
    method: 'POST',
    body: `${lines.join('\n')}\ngone v=1 ${rows.sent}`,
  });
  if (answer.status !== 204) throw new Error(`${answer.status}: ${await answer.text()}`);
  rows.kept += ROWS_PER_WRITE;
}

async function check(tsdb: string, databases: ReadonlyMap<string, Rows>): Promise<void> {
  for (const [name, { kept, sent }] of databases) {
    const [series] = await query(tsdb, 'SELECT count(v) FROM m', name);
    const count = Number(series?.values?.[0]?.[1] ?? 0);
    if (count < kept || count > sent) {
      throw new Error(`${name}: ${count} rows, ${kept} acknowledged of ${sent}`);
    }
  }
}
