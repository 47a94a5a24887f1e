// A cluster that is disturbed while clients write and read: round by round something is killed,
// taken away or restarted. Nothing acknowledged may be lost or doubled, what fails says why, and in
// the end all replicas are the same.
import { setTimeout as sleep } from 'node:timers/promises';

import { eventually, query, seededRandom, send } from '@tidemark/testkit';

import { BATCH, DATABASE, Load } from './load.ts';
import type { Trouble } from './load.ts';
import { Subject } from './subject.ts';

const ACTIONS = ['replica', 'shard', 'zookeeper', 'front end', 'rolling restart'] as const;
type Action = (typeof ACTIONS)[number];

/** How long something is away, besides what its start takes. */
const AWAY_MS = { least: 2000, most: 12_000 };
const QUIET_MS = 2000;

/** Until replicas have fetched from each other what they lack. */
const SETTLE_MS = 120_000;

export type SoakOptions = {
  readonly rounds: number;
  readonly seed: number;
  readonly say: (line: string) => void;
};

export type SoakResult = {
  readonly points: number;
  readonly reads: number;
  readonly partialReads: number;
  /** Requests that were refused or broken off, by action and status. */
  readonly refused: Readonly<Record<string, number>>;
  readonly gapMsMax: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
};

export async function soakCluster({ rounds, seed, say }: SoakOptions): Promise<SoakResult> {
  const random = seededRandom(seed);
  const subject = await Subject.start();
  const load = new Load(() => subject.url);
  try {
    await query(subject.url, `CREATE DATABASE ${DATABASE}`);
    for (const { tsdb } of subject.frontEnds)
      await eventually('the database', async () =>
        (await send(`${tsdb}/query?q=SHOW+DATABASES`)).text.includes(DATABASE) ? true : undefined,
      );
    const running = load.run();
    const refused: Record<string, number> = {};
    const gapMsMax: Record<string, number> = {};
    const problems: string[] = [];
    let partialReads = 0;
    for (let round = 0; round < rounds; round++) {
      const action = ACTIONS[round % ACTIONS.length] ?? 'replica';
      await untilWritten(load);
      await sleep(QUIET_MS);
      load.take();
      const what = await disturb(subject, action, random);
      await untilWritten(load);
      const { troubles, partial, gapMs } = load.take();
      partialReads += partial;
      gapMsMax[action] = Math.max(gapMsMax[action] ?? 0, gapMs);
      for (const trouble of troubles) {
        const name = `${action}: ${trouble.what} ${trouble.status}`;
        refused[name] = (refused[name] ?? 0) + 1;
        const problem = notAllowed(action, trouble);
        if (problem !== undefined) problems.push(`round ${round + 1}, ${what}: ${problem}`);
      }
      say(
        `round ${round + 1} of ${rounds}: ${what}, ${load.total} points, ` +
          `${troubles.length} refused, ${gapMs} ms without an acknowledgement`,
      );
    }
    load.stop();
    await running;
    problems.push(...load.problems, ...(await differences(subject, load)));
    return { points: load.total, reads: load.reads, partialReads, refused, gapMsMax, problems };
  } finally {
    load.stop();
    await subject.close();
  }
}

/** All writers go on. */
async function untilWritten({ acknowledged }: Load): Promise<void> {
  const before = [...acknowledged];
  await eventually(
    'writes',
    () =>
      Promise.resolve(
        acknowledged.every((count, i) => count > (before[i] ?? 0)) ? true : undefined,
      ),
    SETTLE_MS,
  );
}

/** Does it and mends it; what it was. */
async function disturb(subject: Subject, action: Action, random: () => number): Promise<string> {
  const { nodes, zookeeper } = subject.status;
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
  const awayMs = AWAY_MS.least + random() * (AWAY_MS.most - AWAY_MS.least);
  const seconds = `${Math.round(awayMs / 1000)} s`;
  switch (action) {
    case 'replica': {
      const { node, pid } = oneOf(nodes);
      await subject.end(pid, 'SIGKILL');
      await sleep(awayMs);
      await subject.mend();
      return `${node} killed, away for ${seconds}`;
    }
    case 'shard': {
      const { shard } = oneOf(nodes);
      const own = nodes.filter((node) => node.shard === shard);
      await Promise.all(own.map(({ pid }) => subject.end(pid, 'SIGKILL')));
      await sleep(awayMs);
      await subject.mend();
      return `shard ${shard} away for ${seconds}`;
    }
    case 'zookeeper':
      await subject.end(zookeeper.pid, 'SIGKILL');
      await sleep(awayMs);
      await subject.mend();
      return `ZooKeeper away for ${seconds}`;
    case 'front end': {
      const index = oneOf([0, 1]);
      await subject.endFrontEnd(index, 'kill');
      await sleep(awayMs);
      await subject.startFrontEnd(index);
      return `service ${index + 1} killed, away for ${seconds}`;
    }
    default: {
      for (const { pid } of [...nodes, zookeeper]) {
        await subject.end(pid, 'SIGTERM');
        await subject.mend();
      }
      for (const index of [0, 1]) {
        await subject.endFrontEnd(index, 'stop');
        await subject.startFrontEnd(index);
      }
      return 'everything restarted, one after the other';
    }
  }
}

/** What may be refused while something is away. */
function notAllowed(action: Action, { what, status, text }: Trouble): string | undefined {
  const said = `${what} is answered with ${status}: ${text.slice(0, 300)}`;
  const endsServices = action === 'front end' || action === 'rolling restart';
  if (status === 0) return endsServices ? undefined : said;
  if (what === 'write') return status === 503 && text.includes('does not take') ? undefined : said;
  const isShardAway = action === 'shard' && /shard \d of the cluster does not answer/.test(text);
  return isShardAway ? undefined : said;
}

async function differences(subject: Subject, load: Load): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { tsdb } of subject.frontEnds) {
    for (const [writer, count] of load.acknowledged.entries()) {
      const where = `WHERE w = '${writer}'`;
      const series = await query(tsdb, `SELECT n FROM m ${where}`, DATABASE, { epoch: 'ns' });
      const found = (series[0]?.values ?? []).map(([, n]) => Number(n));
      if (found.length !== count || found.some((n, i) => n !== i))
        problems.push(`writer ${writer}: ${count} points acknowledged, ${found.length} found`);
      const [last] = await query(tsdb, `SELECT n FROM last ${where}`, DATABASE);
      const value = Number(last?.values?.[0]?.[1]);
      const newest = count - BATCH;
      if (value !== newest)
        problems.push(`writer ${writer}: the last value is ${value}, acknowledged was ${newest}`);
    }
  }
  problems.push(...(await replicaDifferences(subject)));
  return problems;
}

/** Rows of every table, as each replica has them. */
async function replicaDifferences({ status }: Subject): Promise<readonly string[]> {
  const ask = async (url: string, sql: string): Promise<string> => {
    const { status: code, text } = await send(url, { method: 'POST', body: sql });
    if (code !== 200) throw new Error(`${url}: ${text}`);
    return text.trim();
  };
  const columns = {
    points: 'column, series, time, f, i, s',
    series: 'measurement, series, is_gone',
  };
  const states = async (): Promise<ReadonlyMap<number, ReadonlySet<string>>> => {
    const byShard = new Map<number, Set<string>>();
    for (const { url, shard } of status.nodes) {
      const names = await ask(
        url,
        `SELECT name FROM system.tables WHERE database = 'tidemark' AND match(name, '^(points|series)_')
         ORDER BY name`,
      );
      const parts: string[] = [];
      for (const table of names.split('\n').filter((name) => name !== '')) {
        const own = table.startsWith('points') ? columns.points : columns.series;
        const state = await ask(
          url,
          `SELECT count(), groupBitXor(cityHash64(${own})) FROM tidemark.${table} FINAL`,
        );
        parts.push(`${table} ${state}`);
      }
      const seen = byShard.get(shard) ?? new Set<string>();
      byShard.set(shard, seen.add(parts.join(', ')));
    }
    return byShard;
  };
  try {
    await eventually(
      'equal replicas',
      async () =>
        [...(await states()).values()].every((one) => one.size === 1) ? true : undefined,
      SETTLE_MS,
    );
    return [];
  } catch {
    const found = [...(await states())];
    return found.map(([shard, one]) => `replicas of shard ${shard}: ${[...one].join(' | ')}`);
  }
}
