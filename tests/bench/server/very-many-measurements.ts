// Very many measurements with one series each, loaded and queried as a whole by one client and by
// several at once, on Tidemark and, with influxd installed, an InfluxDB beside it, in turns. CPU is
// that of the server's process. Runs the built executable.
// packages/cli/bin/node --conditions=source tests/bench/server/very-many-measurements.ts
// [measurements] [turns]
import { Agent } from 'node:http';

import { query } from '@tidemark/testkit';

import { DATABASE, withSubjects } from './beside-influxdb.ts';
import type { Subject } from './beside-influxdb.ts';
import { processorMs } from './processor.ts';
import { send } from './writer.ts';

const [measurementCount = 20_000, turns = 3] = process.argv.slice(2).map(Number);
/** Lines of a request, and connections that send them. */
const LINES = 5000;
const CONNECTIONS = 4;
const WARM_UP_CLIENTS = 4;
const START_SECONDS = 1_700_000_000;
const RANGE = `time >= ${START_SECONDS}s AND time < ${START_SECONDS + 3 * 3600}s`;

const STATEMENTS: readonly (readonly [statement: string, clients: number])[] = [
  ['SELECT count(v) FROM /.*/', 1],
  ['SELECT count(v) FROM /.*/', 16],
  ['SELECT last(v) FROM /m1.*/', 1],
  [`SELECT mean(v) FROM /.*/ WHERE ${RANGE} GROUP BY time(1h)`, 1],
  ['SHOW MEASUREMENTS', 1],
  ['SHOW TAG VALUES WITH KEY = host', 1],
];

type Cost = { readonly cpuMs: number; readonly wallMs: number };

await withSubjects(async (subjects) => {
  const names = ['CPU ms', 'ms'].flatMap((unit) => subjects.map(({ name }) => `${name} ${unit}`));
  printLine('', names);
  const loads = await inTurns(subjects, async ({ url }, turn) => {
    // Statements go to what the first turn loads.
    const database = turn === 0 ? DATABASE : `${DATABASE}${turn}`;
    await query(url, `CREATE DATABASE ${database}`);
    await load(url, database);
  });
  const first = loads.map(([cost]) => cost!);
  printCosts(
    'load, first',
    first.map((cost) => [cost]),
  );
  printCosts('load, into other databases', afterFirst(loads));
  for (const [statement, clients] of STATEMENTS) {
    // A few requests are needed before V8 has compiled what they run.
    for (const { url } of subjects) await ask(url, statement, WARM_UP_CLIENTS);
    const costs = await inTurns(subjects, ({ url }) => ask(url, statement, clients));
    printCosts(clients === 1 ? statement : `${statement}, ${clients} at once`, afterFirst(costs));
  }
});

/** What each subject spends in each turn. */
async function inTurns(
  subjects: readonly Subject[],
  work: (subject: Subject, turn: number) => Promise<void>,
): Promise<readonly (readonly Cost[])[]> {
  const costs = subjects.map((): Cost[] => []);
  for (let turn = 0; turn <= turns; turn++) {
    for (const [i, subject] of subjects.entries()) {
      const before = processorMs(subject.pid);
      const began = performance.now();
      await work(subject, turn);
      const wallMs = performance.now() - began;
      costs[i]!.push({ cpuMs: processorMs(subject.pid) - before, wallMs });
    }
  }
  return costs;
}

function afterFirst(costs: readonly (readonly Cost[])[]): readonly (readonly Cost[])[] {
  return costs.map((all) => all.slice(1));
}

async function load(url: string, database: string): Promise<void> {
  const bodies: Uint8Array[] = [];
  for (let at = 0; at < measurementCount; at += LINES) {
    const lines: string[] = [];
    for (let m = at; m < Math.min(measurementCount, at + LINES); m++) {
      lines.push(`m${m},host=h${m % 100} v=${m / 4} ${START_SECONDS + (m % 7200)}`);
    }
    bodies.push(Buffer.from(lines.join('\n')));
  }
  await together(CONNECTIONS, async (agent) => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      const status = await send(`${url}/write?db=${database}&precision=s`, agent, body);
      if (status !== 204) throw new Error(`write answered ${status}`);
    }
  });
}

async function ask(url: string, statement: string, clients: number): Promise<void> {
  const search = new URLSearchParams({ db: DATABASE, q: statement });
  await together(clients, async (agent) => {
    const status = await send(`${url}/query?${search.toString()}`, agent, undefined);
    if (status !== 200) throw new Error(`${statement} answered ${status}`);
  });
}

async function together(clients: number, work: (agent: Agent) => Promise<void>): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  await Promise.all(Array.from({ length: clients }, () => work(agent)));
  agent.destroy();
}

/** Prints the median of each subject. */
function printCosts(what: string, costs: readonly (readonly Cost[])[]): void {
  const medians = (['cpuMs', 'wallMs'] as const).flatMap((key) =>
    costs.map((all) => all.map((cost) => cost[key]).toSorted((a, b) => a - b)[all.length >> 1]!),
  );
  printLine(
    what,
    medians.map((ms) => ms.toFixed(0)),
  );
}

function printLine(what: string, values: readonly string[]): void {
  const columns = values.map((value) => value.padStart(17)).join('');
  process.stdout.write(`${what.slice(0, 96).padEnd(98)}${columns}\n`);
}
