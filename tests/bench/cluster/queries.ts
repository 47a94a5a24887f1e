// How long queries take that a cluster answers, beside the same questions in SQL by hand on the
// same tables, in turns. The rows are those of `cluster/load` in BENCH_DIR, or loaded first.
// BENCH_ROWS (4,000,000), BENCH_REPLICAS (1), BENCH_ROUNDS (7).
import { setTimeout as sleep } from 'node:timers/promises';

import { costOf, middle, sql, withCluster } from './cluster-service.ts';
import type { ClusterService, Cost } from './cluster-service.ts';
import { loadSlice } from './own-load.ts';
import { slicesOf } from './progress.ts';
import { COLUMN, END_SECONDS, linesOf, seriesIdOf, SLICES, START_SECONDS } from './rows.ts';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
const NANOS = 1_000_000_000n;

/** Slices that the directory does not hold yet. */
async function loadRest(service: ClusterService): Promise<void> {
  for (let slice = slicesOf(service.directory).length; slice < SLICES; slice++)
    await loadSlice(service, linesOf(slice));
}

/** Merges and copies that are under way would share the machine with the first query alone. */
async function whenCalm({ nodes }: ClusterService): Promise<void> {
  const busy = `SELECT (SELECT count() FROM system.replication_queue)
    + (SELECT count() FROM system.merges)`;
  for (const url of nodes) {
    for (let calm = 0; calm < 3;) {
      calm = (await sql(url, busy)) === '0' ? calm + 1 : 0;
      await sleep(500);
    }
  }
}

type Case = {
  readonly name: string;
  readonly influxql: string;
  readonly byHand: string;
  /** Asked so often in a round: processor time is counted in steps of ten milliseconds. */
  readonly repeats?: number;
};

function casesOf({ points, series }: { points: string; series: string }): readonly Case[] {
  const range = `time >= ${START_SECONDS}s AND time < ${END_SECONDS}s`;
  const rows = `${points} FINAL WHERE column = ${COLUMN}
    AND time >= ${BigInt(START_SECONDS) * NANOS} AND time < ${BigInt(END_SECONDS) * NANOS}`;
  const one = seriesIdOf(7);
  const hour = START_SECONDS + 3600;
  return [
    {
      name: 'mean by hour',
      influxql: `SELECT mean(usage) FROM cpu WHERE ${range} GROUP BY time(1h)`,
      byHand: `SELECT intDiv(time, 3600000000000) AS w, sum(f), count() FROM ${rows}
        GROUP BY w ORDER BY w`,
    },
    {
      name: 'maximum of each series',
      influxql: `SELECT max(usage) FROM cpu WHERE ${range} GROUP BY host`,
      byHand: `SELECT host, min(first), max(most)
        FROM (SELECT series, argMin(time, (-f, time)) AS first, max(f) AS most FROM ${rows}
          GROUP BY series)
        ANY INNER JOIN (SELECT series, tag_values[indexOf(tag_keys, 'host')] AS host FROM ${series}
          WHERE measurement = 'cpu') USING series
        GROUP BY host`,
    },
    {
      name: 'mean of each of ten groups by hour',
      influxql: `SELECT mean(usage) FROM cpu WHERE ${range} GROUP BY time(1h), dc`,
      byHand: `SELECT dc, intDiv(time, 3600000000000) AS w, sum(f), count()
        FROM (SELECT series, time, f FROM ${rows})
        ANY INNER JOIN (SELECT series, tag_values[indexOf(tag_keys, 'dc')] AS dc FROM ${series}
          WHERE measurement = 'cpu') USING series
        GROUP BY dc, w ORDER BY dc, w`,
    },
    {
      name: 'count above a value',
      influxql: `SELECT count(usage) FROM cpu WHERE usage > 6000 AND ${range}`,
      byHand: `SELECT count() FROM ${rows} AND f > 6000`,
    },
    {
      name: 'one series by ten minutes',
      influxql: `SELECT mean(usage) FROM cpu WHERE host = 'h7' AND ${range} GROUP BY time(10m)`,
      byHand: `SELECT intDiv(time, 600000000000) AS w, sum(f), count()
        FROM ${rows} AND series = ${one} GROUP BY w ORDER BY w`,
    },
    {
      name: 'an hour of one series',
      influxql: `SELECT usage FROM cpu WHERE host = 'h7' AND time >= ${START_SECONDS}s AND time < ${hour}s`,
      byHand: `SELECT time, f FROM ${rows} AND series = ${one}
        AND hour <= ${Math.floor(hour / 3600)} AND time < ${BigInt(hour) * NANOS} ORDER BY time`,
      repeats: 20,
    },
  ];
}

const compared = (own: number, theirs: number): string =>
  `${own.toFixed(1)} ms, by hand ${theirs.toFixed(1)} ms (${(own / theirs).toFixed(2)} times)`;

/** The same thing again and again, and what once takes of it. */
async function costOfOne(
  service: ClusterService,
  repeats: number,
  work: () => Promise<unknown>,
): Promise<Cost> {
  const { ms, serviceMs, processorMs } = await costOf(service, async () => {
    for (let i = 0; i < repeats; i++) await work();
  });
  return { ms: ms / repeats, serviceMs: serviceMs / repeats, processorMs: processorMs / repeats };
}

const least = (costs: readonly Cost[]): number => Math.min(...costs.map(({ ms }) => ms));

await withCluster(async (service) => {
  const { shards, query } = service;
  await loadRest(service);
  await whenCalm(service);
  const [url = ''] = shards;
  const tables = await sql(url, `SHOW TABLES LIKE 'points\\_%'`);
  const points = tables.split('\n')[0] ?? '';
  const series = points.replace('points', 'series');
  const counts = await Promise.all(
    shards.map((one) =>
      sql(
        one,
        `SELECT sum(rows), count(), sum(bytes_on_disk) FROM system.parts
         WHERE active AND database = 'tidemark' AND table = '${points}'`,
      ),
    ),
  );
  console.log(`rows, parts, bytes of each shard: ${counts.join('; ')}`);
  for (const { name, influxql, byHand, repeats = 1 } of casesOf({ points, series })) {
    const own: Cost[] = [];
    const theirs: Cost[] = [];
    const ask = (one: string): Promise<string> => sql(one, `${byHand} FORMAT RowBinary`);
    const sides = [
      async () => own.push(await costOfOne(service, repeats, () => query(influxql))),
      async () =>
        theirs.push(await costOfOne(service, repeats, () => Promise.all(shards.map(ask)))),
    ];
    for (let round = 0; round <= ROUNDS; round++) {
      // Neither always finds what the other has just read.
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) await side();
    }
    // The first round has found the way.
    for (const costs of [own, theirs]) costs.shift();
    console.log(
      `${name}: ${compared(middle(own, 'ms'), middle(theirs, 'ms'))}; at best ` +
        `${compared(least(own), least(theirs))}; processors ` +
        compared(middle(own, 'processorMs'), middle(theirs, 'processorMs')),
    );
  }
});
