// The costs of executables of Tidemark, in turn: two loads, queries over both, the memory that a
// query over many series takes beside what the server holds, and a start. For comparing two builds
// on a machine that does other work too: processor time of the servers, the median of all turns.
// packages/cli/bin/node --conditions=source tests/bench/server/executables.ts TURNS EXECUTABLE...
import { Agent } from 'node:http';

import { query, removeDirectory, startTidemark } from '@tidemark/testkit';

import { batches, manySeries, quantile } from './lines.ts';
import { forgetPeak, memoryMiB, processorMs } from './processor.ts';
import { write } from './writer.ts';

const [turns = '3', ...executables] = process.argv.slice(2);
const HOSTS = 100;
const ROWS = 864_000;
const SERIES = 300_000;
const LINES = 5000;
const CONNECTIONS = 4;
const REPEATS = 5;
const ARGS = ['--monitor-store-enabled', 'false', '--data-max-values-per-tag', '0'];
const STATEMENTS: readonly string[] = [
  'SELECT mean(usage_0) FROM cpu GROUP BY time(1h), hostname fill(none)',
  'SELECT max(*) FROM cpu',
  'SELECT count(usage_1) FROM cpu WHERE usage_1 > 50',
  'SELECT count(f) FROM hc',
  'SELECT sum(f) FROM hc',
  'SELECT max(f) FROM hc GROUP BY region',
];

/** The figures of each executable, by measured quantity. */
const figures = new Map<string, number[][]>();
for (let turn = 0; turn < Number(turns); turn++) {
  for (const [index, executable] of executables.entries()) await measure(index, executable);
}
for (const [name, values] of figures) {
  const cells = values.map((all) =>
    quantile(
      all.toSorted((a, b) => a - b),
      0.5,
    ).toFixed(0),
  );
  process.stdout.write(`${name.padEnd(76)} ${cells.map((cell) => cell.padStart(8)).join('')}\n`);
}

async function measure(index: number, executable: string): Promise<void> {
  const note = (name: string, value: number): void => {
    const values = figures.get(name) ?? executables.map(() => []);
    values[index]?.push(value);
    figures.set(name, values);
  };
  const program = [process.execPath, executable];
  let server = await startTidemark({ command: 'tsdb', program, args: ARGS });
  const { directory } = server;
  try {
    let pid = server.process.pid ?? 0;
    const costOf = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      const before = processorMs(pid);
      await work();
      note(`${name}, CPU ms`, processorMs(pid) - before);
    };
    await query(server.tsdb, 'CREATE DATABASE bench');
    await costOf(`load of cpu, ${ROWS} rows`, () => load(server.tsdb, cpuBodies()));
    note('RSS at most during it, MiB', memoryMiB(pid, 'VmHWM'));
    await costOf(`load of ${SERIES} series`, () =>
      load(server.tsdb, manySeries('hc', SERIES, LINES)),
    );
    note('RSS at most until then, MiB', memoryMiB(pid, 'VmHWM'));
    for (const statement of STATEMENTS) {
      forgetPeak(pid);
      const restMiB = memoryMiB(pid, 'VmRSS');
      await costOf(statement, () => query(server.tsdb, statement, 'bench'));
      note(`  RSS beyond that at rest, MiB: ${statement}`, memoryMiB(pid, 'VmHWM') - restMiB);
      const before = processorMs(pid);
      for (let i = 0; i < REPEATS; i++) await query(server.tsdb, statement, 'bench');
      note(`  again: ${statement}, CPU ms`, (processorMs(pid) - before) / REPEATS);
    }
    await server.stop();
    server = await startTidemark({ command: 'tsdb', program, directory, args: ARGS });
    pid = server.process.pid ?? 0;
    await query(server.tsdb, 'SELECT count(f) FROM hc', 'bench');
    note('start until a count is answered, CPU ms', processorMs(pid));
    note('RSS then, MiB', memoryMiB(pid, 'VmRSS'));
  } finally {
    await server.stop();
    await removeDirectory(directory);
  }
}

function cpuBodies(): Uint8Array[] {
  const bodies: Uint8Array[] = [];
  for (const body of batches(HOSTS, LINES)) {
    bodies.unshift(body);
    if (bodies.length * LINES >= ROWS) return bodies;
  }
  return bodies;
}

async function load(url: string, bodies: Uint8Array[]): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const options = { url, agent, bodies, rowsPerBody: LINES, connections: CONNECTIONS };
  await write(options, { durationMs: Number.POSITIVE_INFINITY, everyMs: 0 });
  agent.destroy();
}
