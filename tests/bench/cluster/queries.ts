// How long queries take that a cluster answers, beside the same questions in SQL by hand on the
// same tables, in turns. The rows are made by the cluster itself. BENCH_ROWS (2,000,000),
// BENCH_REPLICAS (1), BENCH_ROUNDS (7).
import { setTimeout as sleep } from 'node:timers/promises';

import { costOf, idOf, middle, post, sql, withCluster } from './cluster-service.ts';
import type { ClusterService, Cost } from './cluster-service.ts';

const ROWS = Number(process.env['BENCH_ROWS'] ?? 2_000_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7);
const SERIES = 1000;
const STEP_SECONDS = 10;
const START_SECONDS = 1_700_000_000;
const STEPS = Math.ceil(ROWS / SERIES);
const END_SECONDS = START_SECONDS + STEPS * STEP_SECONDS;
const NANOS = 1_000_000_000n;
const WEEK_SECONDS = 604_800;
/** Rows of one `INSERT … SELECT`. */
const STEPS_PER_INSERT = 10_000;

const COLUMN = idOf('cpu\0usage\0float');

type Group = { readonly id: number; readonly start: number; readonly end: number };

/** A point of each series in each shard group makes the tables, and all that is agreed on. */
async function makeSeries({ tsdb, query }: ClusterService): Promise<readonly Group[]> {
  for (let time = START_SECONDS; time < END_SECONDS + WEEK_SECONDS; time += WEEK_SECONDS) {
    const at = Math.min(time, END_SECONDS - STEP_SECONDS);
    const lines = Array.from(
      { length: SERIES },
      (_, i) => `cpu,dc=d${i % 10},host=h${i} usage=1 ${at}`,
    );
    await post(`${tsdb}/write?db=d&precision=s`, lines.join('\n'));
  }
  const answer = JSON.parse(await query('SHOW SHARDS')) as {
    results: { series: { columns: string[]; values: (string | number)[][] }[] }[];
  };
  return answer.results.flatMap(({ series }) =>
    series.flatMap(({ columns, values }) =>
      values.map((row) => {
        const of = (name: string): string => String(row[columns.indexOf(name)]);
        const seconds = (name: string): number => Date.parse(of(name)) / 1000;
        return {
          id: Number(of('shard_group')),
          start: seconds('start_time'),
          end: seconds('end_time'),
        };
      }),
    ),
  );
}

/** Has every shard make its rows; those that are there already are written again. */
async function makeRows(
  { shards }: ClusterService,
  points: string,
  groups: readonly Group[],
): Promise<void> {
  await Promise.all(
    shards.map(async (url, shard) => {
      const ids = Array.from({ length: SERIES }, (_, i) => idOf(`cpu,dc=d${i % 10},host=h${i}`))
        .filter((id) => Number(id % BigInt(shards.length)) === shard)
        .map((id) => `toUInt64(${id})`);
      for (const group of groups) {
        const last = Math.min(STEPS, Math.ceil((group.end - START_SECONDS) / STEP_SECONDS));
        let first = Math.max(0, Math.ceil((group.start - START_SECONDS) / STEP_SECONDS));
        for (; first < last; first += STEPS_PER_INSERT) {
          const steps = Math.min(STEPS_PER_INSERT, last - first);
          await sql(
            url,
            `INSERT INTO ${points} (column, series, time, f, batch, grp)
             SELECT toUInt64(${COLUMN}), [${ids.join(',')}][number % ${ids.length} + 1],
               (${START_SECONDS} + (${first} + intDiv(number, ${ids.length})) * ${STEP_SECONDS})
                 * 1000000000,
               (number * 7919 % 100000) / 16, ${first}, ${group.id}
             FROM (SELECT number FROM system.numbers LIMIT ${steps * ids.length})`,
          );
        }
      }
    }),
  );
  // Merges and copies that are under way would share the machine with the first query alone.
  const busy = `SELECT (SELECT count() FROM system.replication_queue)
    + (SELECT count() FROM system.merges)`;
  for (const url of shards) {
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
};

function casesOf({ points, series }: { points: string; series: string }): readonly Case[] {
  const range = `time >= ${START_SECONDS}s AND time < ${END_SECONDS}s`;
  const rows = `${points} FINAL WHERE column = ${COLUMN}
    AND time >= ${BigInt(START_SECONDS) * NANOS} AND time < ${BigInt(END_SECONDS) * NANOS}`;
  const one = idOf('cpu,dc=d7,host=h7');
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
    },
  ];
}

const compared = (own: number, theirs: number): string =>
  `${own.toFixed(1)} ms, by hand ${theirs.toFixed(1)} ms (${(own / theirs).toFixed(2)} times)`;

await withCluster(async (service) => {
  const { shards, query } = service;
  const groups = await makeSeries(service);
  const [url = ''] = shards;
  const tables = await sql(url, `SHOW TABLES LIKE 'points\\_%'`);
  const points = tables.split('\n')[0] ?? '';
  const series = points.replace('points', 'series');
  const { ms } = await costOf(service, () => makeRows(service, points, groups));
  const counts = await Promise.all(
    shards.map((one) =>
      sql(
        one,
        `SELECT sum(rows), count(), sum(bytes_on_disk) FROM system.parts
         WHERE active AND database = 'tidemark' AND table = '${points}'`,
      ),
    ),
  );
  console.log(`rows, parts, bytes of each shard: ${counts.join('; ')} (${Math.round(ms)} ms)`);
  for (const { name, influxql, byHand } of casesOf({ points, series })) {
    const own: Cost[] = [];
    const theirs: Cost[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      own.push(await costOf(service, () => query(influxql)));
      const ask = (one: string): Promise<string> => sql(one, `${byHand} FORMAT RowBinary`);
      theirs.push(await costOf(service, () => Promise.all(shards.map(ask))));
    }
    // The first round has found the way.
    for (const costs of [own, theirs]) costs.shift();
    console.log(
      `${name}: ${compared(middle(own, 'ms'), middle(theirs, 'ms'))}; processors ` +
        compared(middle(own, 'processorMs'), middle(theirs, 'processorMs')),
    );
  }
});
