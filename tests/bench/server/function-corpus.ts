// Random statements to two builds in turns: every function, 1 to 12 calls, aliases, arithmetic,
// windows, groups, conditions, subqueries. CPU is that of the server per statement; those that
// take the second build longer are measured again, and printed if they still do.
// npm run bench -- server/function-corpus --before=../other/packages/cli/bin/tidemark
// [--after=…] [--rows=100000] [--statements=150] [--seed=1] [--slower=1.3]
// Builds are commands with arguments; the second is this one by default.
import { parseArgs } from 'node:util';

import { FUNCTIONS } from '@tidemark/query';
import { query, removeDirectory, seededRandom, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { DATABASE } from './beside-influxdb.ts';
import { fillRows, rangeOf } from './function-rows.ts';
import { processorMs } from './processor.ts';

const { values: given } = parseArgs({
  options: {
    before: { type: 'string' },
    after: { type: 'string' },
    rows: { type: 'string', default: '100000' },
    statements: { type: 'string', default: '150' },
    seed: { type: 'string', default: '1' },
    slower: { type: 'string', default: '1.3' },
  },
});
const ROWS = Number(given.rows);
const RANGE = rangeOf(ROWS);
const CALLS_MAX = 12;
/** A build answers for so long in a turn: its processor time is counted in steps of ten. */
const TURN_CPU_MS = 60;
const TURNS = 3;
const TURNS_AGAIN = 9;
/** Less than this many milliseconds of difference is no difference. */
const LEAST_MS = 1;

type Build = { readonly url: string; readonly pid: number };

/** Arguments behind the first, of functions that have some. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  percentile: ', 90',
  sample: ', 3',
  top: ', 3',
  bottom: ', 3',
  moving_average: ', 4',
  holt_winters: ', 5, 4',
  holt_winters_with_fit: ', 5, 4',
  atan2: ', 2',
  log: ', 3',
  pow: ', 2',
};
/** Functions whose windows have any number of points stand alone. */
const LONE: ReadonlySet<string> = new Set(['distinct', 'top', 'bottom', 'sample']);
const PERIODS = /_average$|_index$|_derivative$|_ratio$|_oscillator$/;

const random = seededRandom(Number(given.seed));
const below = (limit: number): number => Math.floor(random() * limit);
const pick = (choices: readonly string[]): string => choices[below(choices.length)] ?? '';
const names = [...FUNCTIONS.values()];
const namesOf = (...kinds: readonly string[]): string[] =>
  names.filter(({ kind }) => kinds.includes(kind)).map(({ name }) => name);
const REDUCERS = namesOf('aggregate', 'selector');
const CHANGING = namesOf('transformation', 'predictor');
const MATHEMATICS = namesOf('math');

function callOf(name: string, argument: string): string {
  const isPeriod = PERIODS.test(name) && name !== 'moving_average' && !name.includes('non_neg');
  const behind = ARGUMENTS[name] ?? (isPeriod && name !== 'derivative' ? ', 3' : '');
  return `${name}(${argument}${behind})`;
}

function column(isWindowed: boolean): string {
  const reduced = callOf(pick(REDUCERS.filter((name) => !LONE.has(name))), pick(['v', 'i']));
  switch (below(5)) {
    case 0:
      return `${reduced} * ${1 + below(9)} + ${below(9)}`;
    case 1:
      return `${callOf(pick(MATHEMATICS), reduced)}`;
    case 2:
      return isWindowed ? callOf(pick(CHANGING), reduced) : `count(distinct(${pick(['i', 's'])}))`;
    case 3:
      return `${reduced} - ${callOf('mean', pick(['v', 'i']))}`;
    default:
      return reduced;
  }
}

function selectList(isWindowed: boolean): string {
  if (below(8) === 0) {
    const others = isWindowed ? [''] : ['', ', host', ', s'];
    return `${callOf(pick([...LONE]), pick(['v', 'i']))}${pick(others)}`;
  }
  if (below(10) === 0) return `${callOf(pick(['max', 'first', 'last', 'min']), 'v')}, host, s`;
  const count = 1 + below(below(3) === 0 ? CALLS_MAX : 3);
  const columns = Array.from({ length: count }, (_, i) => `${column(isWindowed)} AS c${i}`);
  return columns.join(', ');
}

function statement(): string {
  const isWindowed = below(3) > 0;
  const where = `${RANGE}${pick(['', '', '', ' AND v > 20', ' AND v * 2 > i', ' AND host =~ /1/'])}`;
  const groups = [isWindowed ? `time(${pick(['10m', '1h', '1d'])})` : '', pick(['', '', 'host'])];
  const by = groups.filter((group) => group !== '').join(', ');
  const groupBy = by === '' ? '' : ` GROUP BY ${by}`;
  const ends = ['', '', '', ' fill(none)', ' fill(previous)', ' ORDER BY time DESC', ' LIMIT 5'];
  const behind = isWindowed ? pick([...ends, " tz('Europe/Berlin')"]) : '';
  const inner = `SELECT ${selectList(isWindowed)} FROM m WHERE ${where}${groupBy}`;
  if (isWindowed && below(8) === 0) {
    const outer = callOf(pick(['max', 'mean', 'count', 'percentile', 'spread']), 'c0');
    return `SELECT ${outer} FROM (${inner}) WHERE ${RANGE} GROUP BY time(1d)`;
  }
  return `${inner}${behind}`;
}

async function main(): Promise<void> {
  if (given.before === undefined) {
    process.stdout.write('skipped: --before=COMMAND names the build to compare with\n');
    return;
  }
  const programs = [given.before, given.after].map((command) => command?.split(' '));
  const servers: Tidemark[] = [];
  try {
    for (const program of programs) {
      const args = ['--monitor-store-enabled', 'false'];
      servers.push(await startTidemark({ command: 'tsdb', program, args }));
    }
    const builds = servers.map(({ tsdb, process: child }): Build => ({
      url: tsdb,
      pid: child.pid ?? 0,
    }));
    for (const { url } of builds) {
      await query(url, `CREATE DATABASE ${DATABASE}`);
      await fillRows(url, 0, ROWS);
    }
    await compare(builds);
  } finally {
    for (const { stop, directory } of servers) {
      await stop();
      await removeDirectory(directory);
    }
  }
}

async function compare(builds: readonly Build[]): Promise<void> {
  const ratios: number[] = [];
  const sums = [0, 0];
  let slower = 0;
  let refused = 0;
  for (let i = 0; i < Number(given.statements); i++) {
    const text = statement();
    if (!(await isAnswered(builds, text))) {
      refused++;
      continue;
    }
    let costs = await costsOf(builds, text, TURNS);
    if (isSlower(costs)) costs = await costsOf(builds, text, TURNS_AGAIN);
    const [before = 0, after = 0] = costs;
    sums[0]! += before;
    sums[1]! += after;
    ratios.push(after / before);
    if (!isSlower(costs)) continue;
    slower++;
    const shown = text.replaceAll(RANGE, '$range');
    process.stdout.write(`${before.toFixed(1)} -> ${after.toFixed(1)} CPU ms: ${shown}\n`);
  }
  ratios.sort((a, b) => a - b);
  const at = (share: number): string =>
    (ratios[Math.floor(share * (ratios.length - 1))] ?? 0).toFixed(2);
  const [before = 0, after = 0] = sums;
  process.stdout.write(
    `${ratios.length} statements (${refused} refused): ${before.toFixed(0)} -> ${after.toFixed(0)} CPU ms in all; ` +
      `after / before: median ${at(0.5)}, tenth ${at(0.1)}, nine tenths ${at(0.9)}, most ${at(1)}; ${slower} slower\n`,
  );
}

function isSlower([before = 0, after = 0]: readonly number[]): boolean {
  return after > before * Number(given.slower) && after > before + LEAST_MS;
}

/** Whether both answer, with results: statements are drawn without all rules of the language. */
async function isAnswered(builds: readonly Build[], text: string): Promise<boolean> {
  for (const { url } of builds) {
    try {
      await query(url, text, DATABASE);
    } catch (error) {
      // A refused statement, or an infinite number, which JSON lacks.
      if (error instanceof SyntaxError) return false;
      if (error instanceof Error && error.message.startsWith(text)) return false;
      throw error;
    }
  }
  return true;
}

/** Milliseconds of CPU of each build per statement, the fastest turn. */
async function costsOf(
  builds: readonly Build[],
  text: string,
  turns: number,
): Promise<readonly number[]> {
  const least = builds.map(() => Infinity);
  for (let turn = 0; turn < turns; turn++) {
    for (const [i, { url, pid }] of builds.entries()) {
      const began = processorMs(pid);
      let runs = 0;
      let cpuMs = 0;
      do {
        await query(url, text, DATABASE);
        runs++;
        cpuMs = processorMs(pid) - began;
      } while (cpuMs < TURN_CPU_MS);
      least[i] = Math.min(least[i]!, cpuMs / runs);
    }
  }
  return least;
}

await main();
