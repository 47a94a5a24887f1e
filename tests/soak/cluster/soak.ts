// Disturbs a cluster while clients write and read: in each round something is killed, cut off or
// restarted. No acknowledged row may be lost or doubled, errors name the cause, and in the end all
// replicas are equal.
import { setTimeout as sleep } from 'node:timers/promises';

import { eventually, query, seededRandom, send } from '@tidemark/testkit';

import { Changes } from './changes.ts';
import { Client, DATABASE } from './client.ts';
import type { Trouble } from './client.ts';
import { BATCH, Load } from './load.ts';
import { expire, expiryDifferences } from './retention.ts';
import type { Expired } from './retention.ts';
import { Subject } from './subject.ts';

const ACTIONS = [
  'replica',
  'front end',
  'zookeeper paused',
  'retention',
  'front end cut',
  'zookeeper',
  'front end',
  'replica paused',
  'front end paused',
  'shard',
  'retention',
  'front end',
  'zookeeper paused',
  'rolling restart',
] as const;
type Action = (typeof ACTIONS)[number];

/** How long something is unreachable, besides the time of its start. */
const AWAY_MS = { least: 2000, most: 12_000 };
const QUIET_MS = 2000;

/** How long ZooKeeper hangs at most unless told otherwise: longer than its sessions. */
const PAUSED_MS_MAX = 60_000;

/** Clients that change what they have written. */
const CHANGERS = 2;

/** Until replicas have fetched from each other what they lack. */
const SETTLE_MS = 120_000;

export type SoakOptions = {
  readonly rounds: number;
  readonly seed: number;
  /** How long ZooKeeper hangs; default: up to a minute. */
  readonly pausedMs?: number | undefined;
  readonly say: (line: string) => void;
};

export type SoakResult = {
  readonly points: number;
  /** Writes over older points, deletes and drops that were acknowledged. */
  readonly changes: number;
  readonly reads: number;
  readonly partialReads: number;
  /** Requests that were refused or broken off, by action and status. */
  readonly refused: Readonly<Record<string, number>>;
  readonly gapMsMax: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
};

export async function soakCluster({
  rounds,
  seed,
  pausedMs,
  say,
}: SoakOptions): Promise<SoakResult> {
  const random = seededRandom(seed);
  const subject = await Subject.start();
  const client = new Client(() => subject.url);
  const load = new Load(client);
  const changes = Array.from({ length: CHANGERS }, (_, i) => new Changes(client, i, seed));
  const expired: Expired[] = [];
  const stop = (): void => {
    for (const one of [load, ...changes]) one.stop();
  };
  try {
    await query(subject.url, `CREATE DATABASE ${DATABASE}`);
    for (const { tsdb } of subject.frontEnds)
      await eventually('the database', async () =>
        (await send(`${tsdb}/query?q=SHOW+DATABASES`)).text.includes(DATABASE) ? true : undefined,
      );
    const running = Promise.all([load, ...changes].map((one) => one.run()));
    const refused: Record<string, number> = {};
    const gapMsMax: Record<string, number> = {};
    const problems: string[] = [];
    let partialReads = 0;
    for (let round = 0; round < rounds; round++) {
      const action = ACTIONS[round % ACTIONS.length] ?? 'replica';
      await untilWritten(load);
      await sleep(QUIET_MS);
      load.take();
      let what = 'old points expire';
      const services = subject.frontEnds.map(({ tsdb }) => tsdb);
      if (action === 'retention') expired.push(await expire(client, services, round));
      else what = await disturb(subject, action, { random, pausedMs });
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
    stop();
    await running;
    await untilWhole(subject);
    problems.push(...client.problems, ...(await differences(subject, load)));
    for (const { tsdb } of subject.frontEnds) {
      for (const one of changes) problems.push(...(await one.differences(tsdb)));
      for (const one of expired) problems.push(...(await expiryDifferences(tsdb, one)));
    }
    const { total: points, reads } = load;
    const changed = changes.reduce((sum, { count }) => sum + count, 0);
    return { points, changes: changed, reads, partialReads, refused, gapMsMax, problems };
  } finally {
    stop();
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

/** All services reach all replicas: until then one may answer without some. */
async function untilWhole({ frontEnds }: Subject): Promise<void> {
  for (const { tsdb } of frontEnds)
    await eventually(
      'all replicas',
      async () =>
        (await send(`${tsdb}/health`)).text.includes('"status":"warn"') ? undefined : true,
      SETTLE_MS,
    );
}

/** Does it and mends it; what it was. */
async function disturb(
  subject: Subject,
  action: Action,
  { random, pausedMs }: { readonly random: () => number; readonly pausedMs?: number | undefined },
): Promise<string> {
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
    case 'replica paused': {
      const { node, pid } = oneOf(nodes);
      await paused(pid, awayMs);
      return `${node} hangs for ${seconds}`;
    }
    case 'zookeeper paused': {
      const drawnMs = AWAY_MS.least + random() * (PAUSED_MS_MAX - AWAY_MS.least);
      const hangMs = pausedMs ?? drawnMs;
      await paused(zookeeper.pid, hangMs);
      return `ZooKeeper hangs for ${Math.round(hangMs / 1000)} s`;
    }
    case 'front end paused': {
      const index = oneOf([0, 1]);
      await paused(subject.frontEnds[index]?.process.pid ?? 0, awayMs);
      return `service ${index + 1} hangs for ${seconds}`;
    }
    case 'front end cut':
      subject.cut();
      await sleep(awayMs);
      subject.restore();
      return `service 2 is cut off for ${seconds}`;
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

async function paused(pid: number, pausedMs: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    await sleep(pausedMs);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** After these a service does not answer, or only without the cluster. */
const ENDS_SERVICES: ReadonlySet<Action> = new Set([
  'front end',
  'front end paused',
  'rolling restart',
]);
const CUTS_READS: ReadonlySet<Action> = new Set(['shard', 'front end cut']);

/** Errors that are not allowed even while something is unreachable. */
function notAllowed(action: Action, { what, status, text }: Trouble): string | undefined {
  const said = `${what} is answered with ${status}: ${text.slice(0, 300)}`;
  if (status === 0) return ENDS_SERVICES.has(action) ? undefined : said;
  const isRefused = /cluster (?:does not take|has not agreed)|no replica has|of its replicas/;
  if (what === 'write') return status === 503 && isRefused.test(text) ? undefined : said;
  if (what === 'change') return /cluster|ClickHouse/.test(text) ? undefined : said;
  const isAway = /of the cluster does not answer|ClickHouse does not answer/.test(text);
  return CUTS_READS.has(action) && isAway ? undefined : said;
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
    points: 'column, series, time, f, i, s, version',
    series: 'measurement, series, is_gone, version',
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
