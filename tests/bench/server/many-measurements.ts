// Statements of dashboards over many small measurements: 500 of them, with 20 series of a day each.
// With influxd installed the same statements run there too, in turns, so that a busy machine is as
// busy for both. CPU is that of the server's process. Runs the built executable.
// packages/cli/bin/node --conditions=source tests/bench/server/many-measurements.ts
import {
  hasPrograms,
  query,
  removeDirectory,
  startInfluxdb,
  startTidemark,
  write,
} from '@tidemark/testkit';

import { processorMs } from './processor.ts';

const MEASUREMENTS = 500;
const SERIES = 20;
/** A point every ten minutes. */
const POINTS = 144;
const START_SECONDS = 1_700_000_000;
const TURNS = 5;
/** A turn lasts so long on the clock that the steps of ten milliseconds do not matter. */
const TURN_MS = 500;
/** Each statement is asked for so long before it is measured, as a dashboard has been before. */
const WARM_UP_MS = 2000;

const RANGE = `time >= ${START_SECONDS}s AND time < ${START_SECONDS + POINTS * 600}s`;
const STATEMENTS: readonly string[] = [
  `SELECT mean(f) FROM /^m1/ WHERE ${RANGE} GROUP BY time(1h)`,
  `SELECT last(*) FROM /^m1\\d\\d$/ GROUP BY host`,
  `SELECT max(f) FROM /.*/ WHERE ${RANGE}`,
  `SELECT * FROM m7 WHERE ${RANGE} LIMIT 10`,
  `SELECT mean(*) FROM m7 WHERE ${RANGE} GROUP BY time(1h)`,
  'SELECT mean(f) INTO copy..:MEASUREMENT FROM /^m[1-3]\\d$/ GROUP BY *',
  'SHOW FIELD KEYS',
  'SHOW TAG VALUES WITH KEY = host',
];

type Subject = { readonly name: string; readonly url: string; readonly pid: number };

const tidemark = await startTidemark({
  command: 'tsdb',
  args: ['--monitor-store-enabled', 'false'],
});
const influxdb = hasPrograms('influxd') ? await startInfluxdb() : undefined;
try {
  const subjects: Subject[] = [
    { name: 'Tidemark', url: tidemark.tsdb, pid: tidemark.process.pid ?? 0 },
  ];
  if (influxdb !== undefined)
    subjects.push({ name: 'InfluxDB', url: influxdb.url, pid: influxdb.process.pid ?? 0 });
  for (const subject of subjects) await fill(subject);
  await compare(subjects);
} finally {
  await influxdb?.stop();
  await tidemark.stop();
  await removeDirectory(tidemark.directory);
}

async function fill({ url }: Subject): Promise<void> {
  for (const name of ['bench', 'copy']) await query(url, `CREATE DATABASE ${name}`);
  for (let m = 0; m < MEASUREMENTS; m++) {
    const lines: string[] = [];
    for (let s = 0; s < SERIES; s++) {
      for (let p = 0; p < POINTS; p++) {
        const time = START_SECONDS + p * 600;
        lines.push(`m${m},host=h${s} f=${(p * 7 + s) / 4},i=${p}i ${time}`);
      }
    }
    await write(url, 'bench', lines.join('\n'), { precision: 's' });
  }
}

async function compare(subjects: readonly Subject[]): Promise<void> {
  const names = subjects.map(({ name }) => `${name} CPU ms`.padStart(16)).join('');
  process.stdout.write(`${''.padEnd(78)}${names}\n`);
  for (const statement of STATEMENTS) {
    const costs = subjects.map((): number[] => []);
    for (const { url } of subjects) await askFor(WARM_UP_MS, url, statement);
    for (let turn = 0; turn < TURNS; turn++) {
      for (const [i, { url, pid }] of subjects.entries()) {
        const before = processorMs(pid);
        const runs = await askFor(TURN_MS, url, statement);
        costs[i]!.push((processorMs(pid) - before) / runs);
      }
    }
    const medians = costs.map((all) => all.toSorted((a, b) => a - b)[TURNS >> 1]!);
    const shown = medians.map((ms) => ms.toFixed(2).padStart(16)).join('');
    process.stdout.write(`${statement.slice(0, 76).padEnd(78)}${shown}\n`);
  }
}

/** Asks for some milliseconds; how often. */
async function askFor(ms: number, url: string, statement: string): Promise<number> {
  const end = performance.now() + ms;
  let runs = 0;
  for (; performance.now() < end || runs < 3; runs++) await query(url, statement, 'bench');
  return runs;
}
