// The workload of the warm-up: points of machines as collectors send them, and typical queries of
// dashboards and people. Nothing here depends on a user's data.
import { NANOS_PER_SECOND } from '@tidemark/core';

/** Two, so that V8 does not specialise code for the kernels and names of one. */
export const WARM_UP_DATABASES = ['warm_up', 'warm_up2'] as const;

const HOSTS = 40;
const STEP_SECONDS = 10;
/** Points of a body, per host. */
const POINTS = 120;
export const BODIES = 3;
export const SHARD_NANOS = 3600n * NANOS_PER_SECOND;
/**
 * Within the year 2000, so that the last body begins a shard: that is in memory only, the one
 * before in segments only.
 */
const START_SECONDS = 263_000 * 3600 - (BODIES - 1) * POINTS * STEP_SECONDS;

const COUNTERS = ['busy', 'kernel', 'idle', 'nice', 'iowait', 'irq', 'softirq', 'steal'];

/** Line protocol, in several bodies of ascending times. */
export function warmUpLines(body: number): Uint8Array {
  const lines: string[] = [];
  for (let host = 0; host < HOSTS; host++) {
    const tags = `host=host_${host},region=r${host % 4},rack=${host % 7},os=linux`;
    for (let point = 0; point < POINTS; point++) {
      const step = body * POINTS + point;
      const time = BigInt(START_SECONDS + step * STEP_SECONDS) * NANOS_PER_SECOND;
      const value = (salt: number): number => (step * (host + 3) * (salt + 7)) % 101;
      const counters = COUNTERS.map((name, i) => `${name}=${value(i)}i`).join();
      lines.push(`cpu,${tags} ${counters} ${time}`);
      if (point % 4 > 0) continue;
      const load = value(9) / 8;
      lines.push(
        `mem,${tags} used=${load + 0.25},free=${100 - load},state="ok",swap=${point > 9} ${time}`,
      );
    }
  }
  return Buffer.from(lines.join('\n'));
}

const END_SECONDS = BODIES * POINTS * STEP_SECONDS;

/**
 * Statements of a round: the same kinds in every round, with times of their own. Every second round
 * has other hosts, because statements that repeat with other times take another path.
 */
export function warmUpStatements(round: number): readonly string[] {
  const pair = Math.floor(round / 2);
  const host = (nth: number): string => `host = 'host_${(pair * 7 + nth * 3) % HOSTS}'`;
  const hosts = (count: number): string =>
    `(${Array.from({ length: count }, (_, i) => host(i)).join(' or ')})`;
  const within = (seconds: number): string => {
    // Not always at a point, so that the first or the last window may be empty.
    const from = (round * 373) % (END_SECONDS - seconds);
    return `time >= ${time(from)} and time < ${time(from + seconds)}`;
  };
  const each = (call: string, count: number): string =>
    COUNTERS.slice(0, count)
      .map((name) => `${call}(${name})`)
      .join(', ');
  const half = END_SECONDS / 2;
  /** Often within one segment only. */
  const quarter = END_SECONDS / 4;
  const small = [
    `SELECT max(busy) FROM cpu WHERE ${host(0)} and ${within(quarter)} GROUP BY time(1m)`,
    `SELECT max(busy) FROM cpu WHERE ${hosts(8)} and ${within(half)} GROUP BY time(1m)`,
    `SELECT ${each('max', 5)} FROM cpu WHERE ${host(1)} and ${within(quarter)} GROUP BY time(1m)`,
    `SELECT ${each('max', 5)} FROM cpu WHERE ${hosts(8)} and ${within(half)} GROUP BY time(1m)`,
    `SELECT ${each('max', 8)} FROM cpu WHERE ${hosts(2)} and ${within(half)} GROUP BY time(10m)`,
    `SELECT * FROM cpu WHERE busy > 90.0 and ${host(2)} and ${within(half)}`,
    `SELECT max(busy) FROM cpu WHERE time < ${time(half)} GROUP BY time(1m) ORDER BY time DESC LIMIT 5`,
    `SELECT max(busy) FROM cpu WHERE time < ${time(half)} GROUP BY time(1m) LIMIT 5`,
    `SELECT busy FROM cpu WHERE ${host(3)}`,
    'SELECT count(*) FROM cpu',
    'SHOW TAG VALUES FROM cpu WITH KEY = host',
    `SELECT * FROM mem WHERE ${host(4)} ORDER BY time DESC LIMIT 20`,
    `SELECT mean(used), last(free) FROM mem WHERE ${within(half)} GROUP BY time(1m), region fill(none)`,
  ];
  if (round % LARGE_EVERY > 0) return small;
  return [
    ...small,
    `SELECT mean(busy) FROM cpu WHERE ${within(half)} GROUP BY time(5m), host`,
    `SELECT ${each('mean', 5)} FROM cpu WHERE ${within(half)} GROUP BY time(5m), host`,
    `SELECT ${each('mean', 8)} FROM cpu GROUP BY host`,
    `SELECT * FROM cpu WHERE busy > 90.0 and ${within(half)}`,
    'SELECT * FROM cpu GROUP BY host ORDER BY time DESC LIMIT 1',
    `SELECT * FROM cpu WHERE ${within(120)}`,
    `SELECT derivative(mean(busy), 1s) FROM cpu WHERE region = 'r1' and ${within(half)} GROUP BY time(1m)`,
    `SELECT max(top) FROM (SELECT mean(busy) AS top FROM cpu WHERE ${within(half)} GROUP BY time(1m), host) GROUP BY host`,
  ];
}

/** Large answers run the same code many times, so they are requested less often. */
const LARGE_EVERY = 10;

function time(seconds: number): string {
  return `'${new Date((START_SECONDS + seconds) * 1000).toISOString()}'`;
}
