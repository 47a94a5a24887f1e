// Every function over many rows, by one client and by four, beside InfluxDB. `mean` with a
// condition on the field has to read the same values: the measure for the others. CPU is that of
// the server per statement. All of it, for docs/benchmarks.md, takes some twenty minutes:
// npm run bench -- server/functions --rows=864000,10000000 --seconds=0.5 --patience=1
// [--only=top,percentile] (names of functions)
//
// There are as many rows as each of the numbers says, one after another. Of a statement that takes
// a server longer than the patience, in seconds, the first answer counts, and four clients do not
// ask for it.
import { parseArgs } from 'node:util';

import { query } from '@tidemark/testkit';

import { DATABASE, withSubjects } from './beside-influxdb.ts';
import type { Subject } from './beside-influxdb.ts';
import { fillRows, fillWide, rangeOf, START_SECONDS, WIDE_LATER } from './function-rows.ts';
import { forgetPeak, memoryMiB, processorMs } from './processor.ts';

const { values: given } = parseArgs({
  options: {
    rows: { type: 'string', default: '864000' },
    seconds: { type: 'string', default: '2' },
    patience: { type: 'string', default: 'Infinity' },
    only: { type: 'string', default: '' },
  },
});
const TURN_MS = Number(given.seconds) * 1000;
const PATIENCE_MS = Number(given.patience) * 1000;
const names = given.only.split(',').filter((name) => name !== '');
const CLIENTS = 4;

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

/** In the range of all rows, if they name none. */
const STATEMENTS = [
  'SELECT mean(v) FROM m WHERE $range AND v > -1',
  'SELECT mean(v) FROM m WHERE $range AND v > -1 GROUP BY time(1h)',
  ...CALLS.flatMap((call) => [
    `SELECT ${call} FROM m WHERE $range`,
    `SELECT ${call} FROM m WHERE $range GROUP BY time(1h)`,
  ]),
  'SELECT percentile(v, 95) FROM m WHERE $range GROUP BY time(1d)',
  'SELECT percentile(v, 95) FROM m WHERE $range GROUP BY time(1d), host',
  "SELECT percentile(v, 95) FROM m WHERE $range GROUP BY time(1h) tz('Europe/Berlin')",
  'SELECT percentile(v, 95) FROM m WHERE $range AND v * 2 > i GROUP BY time(1h)',
  'SELECT max(v), host FROM m WHERE $range',
  'SELECT max(v), s FROM m WHERE $range GROUP BY time(1h)',
  'SELECT mean(v), stddev(v), sample(i, 3) FROM m WHERE $range',
  'SELECT max(x) FROM (SELECT mean(v) AS x FROM m WHERE $range GROUP BY time(1m), host)',
  'SELECT max(x) FROM (SELECT mean(v) AS x FROM m WHERE $range GROUP BY time(1m), host) WHERE $range GROUP BY time(1h)',
  `SELECT top(v, host, 10) FROM wide WHERE time >= ${START_SECONDS + WIDE_LATER}s`,
];

await withSubjects(async (subjects) => {
  for (const { url } of subjects) await fillWide(url);
  let before = 0;
  for (const rows of given.rows.split(',').map(Number)) {
    for (const { url } of subjects) await fillRows(url, before, rows);
    before = rows;
    await measureAll(subjects, rows);
  }
});

async function measureAll(subjects: readonly Subject[], rows: number): Promise<void> {
  const chosen = STATEMENTS.filter(
    (text) => names.length === 0 || names.some((name) => text.includes(`${name}(`)),
  );
  const titles = subjects.flatMap(({ name }) => [
    `${name}: ms / CPU ms`,
    `by ${CLIENTS} clients: ms / CPU ms`,
  ]);
  printLine(`${rows} rows`, titles);
  for (const { pid } of subjects) forgetPeak(pid);
  for (const text of chosen) {
    const cells: string[] = [];
    for (const subject of subjects) {
      cells.push(...(await measured(subject, text.replaceAll('$range', rangeOf(rows)))));
    }
    printLine(text.replace('$range AND ', '').replaceAll(' WHERE $range', ''), cells);
  }
  for (const { name, pid } of subjects) {
    process.stdout.write(`${name}: ${Math.round(memoryMiB(pid, 'VmHWM'))} MiB resident at most\n`);
  }
}

async function measured(subject: Subject, text: string): Promise<readonly [string, string]> {
  const first = await costOf(subject, text, { clients: 1, turnMs: 0 });
  if (first.ms > PATIENCE_MS) return [shown(first), '–'];
  const alone = await costOf(subject, text, { clients: 1, turnMs: TURN_MS });
  return [shown(alone), shown(await costOf(subject, text, { clients: CLIENTS, turnMs: TURN_MS }))];
}

type Cost = { readonly ms: number; readonly cpuMs: number };

function shown({ ms, cpuMs }: Cost): string {
  return `${ms.toFixed(1)} / ${cpuMs.toFixed(1)}`;
}

/** Milliseconds of the clock per statement of all clients together, and of the processor. */
async function costOf(
  { url, pid }: Subject,
  text: string,
  { clients, turnMs }: { readonly clients: number; readonly turnMs: number },
): Promise<Cost> {
  const cpuBefore = processorMs(pid);
  const began = performance.now();
  let runs = 0;
  const ask = async (): Promise<void> => {
    do {
      await query(url, text, DATABASE);
      runs++;
    } while (performance.now() - began < turnMs);
  };
  await Promise.all(Array.from({ length: clients }, ask));
  return { ms: (performance.now() - began) / runs, cpuMs: (processorMs(pid) - cpuBefore) / runs };
}

function printLine(what: string, values: readonly string[]): void {
  const columns = values.map((value) => value.padStart(28)).join('');
  process.stdout.write(`${what.padEnd(90)}${columns}\n`);
}
