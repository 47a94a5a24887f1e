// Statements to Tidemark and, with influxd installed, to an InfluxDB beside it, in turns, so that a
// busy machine is as busy for both. CPU is that of the server's process. Runs the built executable.
import {
  hasPrograms,
  query,
  removeDirectory,
  startInfluxdb,
  startTidemark,
  write,
} from '@tidemark/testkit';

import { processorMs } from './processor.ts';

export const DATABASE = 'bench';

const TURNS = 5;
/** A turn lasts so long on the clock that the steps of ten milliseconds do not matter. */
const TURN_MS = 500;
/** Each statement is asked for so long before it is measured, as a dashboard has been before. */
const WARM_UP_MS = 2000;
/** Between two writes beside a statement. */
const WRITE_EVERY_MS = 10;

/** A server that is measured. */
export type Subject = {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly directory: string;
};

export type Comparison = {
  /** Writes the points; the database is there. */
  readonly fill: (url: string) => Promise<void>;
  readonly statements: readonly string[];
  /** Also measure how long a point that is written beside each statement waits at most. */
  readonly isWrittenTo?: boolean | undefined;
};

/** Starts the servers, each with the database; they are gone when the work has ended. */
export async function withSubjects(
  work: (subjects: readonly Subject[]) => Promise<void>,
): Promise<void> {
  const tidemark = await startTidemark({
    command: 'tsdb',
    args: ['--monitor-store-enabled', 'false'],
  });
  const influxdb = hasPrograms('influxd') ? await startInfluxdb() : undefined;
  try {
    const { directory } = tidemark;
    const subjects: Subject[] = [
      { name: 'Tidemark', url: tidemark.tsdb, pid: tidemark.process.pid ?? 0, directory },
    ];
    if (influxdb !== undefined) {
      const { url, process: child } = influxdb;
      subjects.push({ name: 'InfluxDB', url, pid: child.pid ?? 0, directory: influxdb.directory });
    }
    for (const { url } of subjects) await query(url, `CREATE DATABASE ${DATABASE}`);
    await work(subjects);
  } finally {
    await influxdb?.stop();
    await tidemark.stop();
    await removeDirectory(tidemark.directory);
  }
}

/** Prints a line per statement: milliseconds of CPU per request, medians of five turns. */
export async function besideInfluxdb(comparison: Comparison): Promise<void> {
  await withSubjects(async (subjects) => {
    for (const { url } of subjects) await comparison.fill(url);
    await compare(subjects, comparison);
  });
}

async function compare(
  subjects: readonly Subject[],
  { statements, isWrittenTo = false }: Comparison,
): Promise<void> {
  const titles = isWrittenTo ? ['CPU ms', 'write ms'] : ['CPU ms'];
  const names = titles.flatMap((title) => subjects.map(({ name }) => `${name} ${title}`));
  printLine('', names);
  for (const statement of statements) {
    const costs = subjects.map((): number[] => []);
    for (const { url } of subjects) await askFor(WARM_UP_MS, url, statement);
    for (let turn = 0; turn < TURNS; turn++) {
      for (const [i, { url, pid }] of subjects.entries()) {
        const before = processorMs(pid);
        const runs = await askFor(TURN_MS, url, statement);
        costs[i]!.push((processorMs(pid) - before) / runs);
      }
    }
    const shown = costs.map((all) => all.toSorted((a, b) => a - b)[TURNS >> 1]!);
    for (const { url } of isWrittenTo ? subjects : []) {
      shown.push(await longestWriteBeside(url, statement));
    }
    printLine(
      statement,
      shown.map((ms) => ms.toFixed(2)),
    );
  }
}

function printLine(what: string, values: readonly string[]): void {
  const columns = values.map((value) => value.padStart(19)).join('');
  process.stdout.write(`${what.slice(0, 100).padEnd(102)}${columns}\n`);
}

/** Asks for some milliseconds; how often. */
async function askFor(ms: number, url: string, statement: string): Promise<number> {
  const end = performance.now() + ms;
  let runs = 0;
  for (; performance.now() < end || runs < 3; runs++) await query(url, statement, DATABASE);
  return runs;
}

async function longestWriteBeside(url: string, statement: string): Promise<number> {
  let isAsked = true;
  const asked = askFor(WARM_UP_MS, url, statement).finally(() => (isAsked = false));
  let longestMs = 0;
  for (let point = 0; isAsked; point++) {
    const began = performance.now();
    await write(url, DATABASE, `beside v=${point} ${point}`, { precision: 's' });
    longestMs = Math.max(longestMs, performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, WRITE_EVERY_MS));
  }
  await asked;
  return longestMs;
}
