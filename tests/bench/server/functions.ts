// Every function over many rows, by one client and by four, beside InfluxDB. `mean` with a
// condition on the field has to read the same values: the measure for the others. CPU is that of
// the server per statement. npm run bench -- server/functions --rows=864000 --seconds=2
// [--only=top,percentile] (names of functions)
import { parseArgs } from 'node:util';

import { query, write } from '@tidemark/testkit';

import { DATABASE, withSubjects } from './beside-influxdb.ts';
import type { Subject } from './beside-influxdb.ts';
import { forgetPeak, memoryMiB, processorMs } from './processor.ts';

const { values: given } = parseArgs({
  options: {
    rows: { type: 'string', default: '864000' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
  },
});
const ROWS = Number(given.rows);
const TURN_MS = Number(given.seconds) * 1000;
const names = given.only.split(',').filter((name) => name !== '');
const SERIES = 200;
const STEP_SECONDS = 10;
const START_SECONDS = 1_500_000_000;
const ROWS_PER_BODY = 20_000;
const CLIENTS = [1, 4];
/** Series of one row, of which some have two later on. */
const [WIDE, WIDE_HOSTS, WIDE_AGAIN, WIDE_LATER] = [240_000, 60_000, 10_000, 100_000];
/** Values of `v`, `i` and `s`. */
const [FLOATS, INTEGERS, TEXTS] = [1009, 101, 503];

const END_SECONDS = START_SECONDS + Math.ceil(ROWS / SERIES) * STEP_SECONDS;
const RANGE = `time >= ${START_SECONDS}s AND time < ${END_SECONDS}s`;

const CALLS = [
  'mean(v)',
  'count(v)',
  'sum(v)',
  'min(v)',
  'max(v)',
  'first(v)',
  'last(v)',
  'spread(v)',
  'median(v)',
  'percentile(v, 95)',
  'percentile(i, 99)',
  'mode(i)',
  'count(distinct(v))',
  'count(distinct(s))',
  'distinct(i)',
  'top(v, 5)',
  'bottom(i, 5)',
  'top(v, host, 5)',
  'stddev(v)',
  'sample(v, 5)',
  'integral(v)',
  'percentile(v, 95), max(v), mean(i), count(distinct(i))',
] as const;

const STATEMENTS = [
  `SELECT mean(v) FROM m WHERE ${RANGE} AND v > -1`,
  ...CALLS.flatMap((call) => [
    `SELECT ${call} FROM m WHERE ${RANGE}`,
    `SELECT ${call} FROM m WHERE ${RANGE} GROUP BY time(1h)`,
  ]),
  `SELECT percentile(v, 95) FROM m WHERE ${RANGE} GROUP BY time(1d), host`,
  `SELECT percentile(v, 95) FROM m WHERE ${RANGE} GROUP BY time(1h) tz('Europe/Berlin')`,
  `SELECT percentile(v, 95) FROM m WHERE ${RANGE} AND v * 2 > i GROUP BY time(1h)`,
  `SELECT max(v), host FROM m WHERE ${RANGE}`,
  `SELECT max(v), s FROM m WHERE ${RANGE} GROUP BY time(1h)`,
  `SELECT mean(v), stddev(v), sample(i, 3) FROM m WHERE ${RANGE}`,
  `SELECT max(x) FROM (SELECT mean(v) AS x FROM m WHERE ${RANGE} GROUP BY time(1m), host)`,
  `SELECT max(x) FROM (SELECT mean(v) AS x FROM m WHERE ${RANGE} GROUP BY time(1m), host) WHERE ${RANGE} GROUP BY time(1h)`,
  `SELECT top(v, host, 10) FROM wide WHERE time >= ${START_SECONDS + WIDE_LATER}s`,
];

await withSubjects(async (subjects) => {
  for (const { url } of subjects) await fill(url);
  const chosen = STATEMENTS.filter(
    (text) => names.length === 0 || names.some((name) => text.includes(`${name}(`)),
  );
  for (const { pid } of subjects) forgetPeak(pid);
  const titles = subjects.flatMap(({ name }) =>
    CLIENTS.map((clients) => `${name} x${clients}: ms / CPU ms`),
  );
  printLine('', titles);
  for (const text of chosen) {
    const cells: string[] = [];
    for (const subject of subjects) {
      await query(subject.url, text, DATABASE);
      for (const clients of CLIENTS) cells.push(await measured(subject, text, clients));
    }
    printLine(text.replace(`${RANGE} AND `, '').replace(` WHERE ${RANGE}`, ''), cells);
  }
  for (const { name, pid } of subjects) {
    process.stdout.write(`${name}: ${Math.round(memoryMiB(pid, 'VmHWM'))} MiB resident at most\n`);
  }
});

/** Milliseconds of the clock per statement of all clients together, and of the processor. */
async function measured({ url, pid }: Subject, text: string, clients: number): Promise<string> {
  const cpuBefore = processorMs(pid);
  const began = performance.now();
  let runs = 0;
  const ask = async (): Promise<void> => {
    do {
      await query(url, text, DATABASE);
      runs++;
    } while (performance.now() - began < TURN_MS);
  };
  await Promise.all(Array.from({ length: clients }, ask));
  const each = (ms: number): string => (ms / runs).toFixed(1);
  return `${each(performance.now() - began)} / ${each(processorMs(pid) - cpuBefore)}`;
}

function printLine(what: string, values: readonly string[]): void {
  const columns = values.map((value) => value.padStart(30)).join('');
  process.stdout.write(`${what.padEnd(90)}${columns}\n`);
}

async function fill(url: string): Promise<void> {
  await fillWith(url, ROWS, lineOf);
  await fillWith(url, WIDE, (row) => wideLine(row, 0));
  await fillWith(url, WIDE_AGAIN * 2, (row) => {
    const series = (row >> 1) * Math.floor(WIDE / WIDE_AGAIN);
    return wideLine(series, WIDE_LATER + STEP_SECONDS * (row % 2));
  });
}

async function fillWith(url: string, rows: number, line: (row: number) => string): Promise<void> {
  for (let from = 0; from < rows; from += ROWS_PER_BODY) {
    const count = Math.min(ROWS_PER_BODY, rows - from);
    const lines = Array.from({ length: count }, (_, k) => line(from + k));
    await write(url, DATABASE, lines.join('\n'), { precision: 's' });
  }
}

function wideLine(series: number, seconds: number): string {
  const tags = `host=h${series % WIDE_HOSTS},port=p${Math.floor(series / WIDE_HOSTS)}`;
  return `wide,${tags} v=${(series * 7919) % 100_003} ${START_SECONDS + seconds}`;
}

function lineOf(row: number): string {
  const value = (row * 7919) % 1_000_003;
  const time = START_SECONDS + Math.floor(row / SERIES) * STEP_SECONDS;
  const fields = `v=${(value % FLOATS) / 8},i=${value % INTEGERS}i,s="t${value % TEXTS}"`;
  return `m,host=h${row % SERIES} ${fields} ${time}`;
}
