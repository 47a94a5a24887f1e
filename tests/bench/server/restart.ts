// From exec to the first right answer: until the port answers, until the ready line, and until the
// count of all rows is right, after a clean stop and after a kill, for the database alone and for
// everything. Each start has the directory as the load left it: nothing that an earlier start did
// is saved to the next. Runs the built executable (`npm run build`). packages/cli/bin/node
// --conditions=source tests/bench/server/restart.ts [rows] [starts]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';

import {
  EXECUTABLE,
  freePort,
  makeDirectory,
  query,
  removeDirectory,
  runTidemark,
  startTidemark,
} from '@tidemark/testkit';

import { batches, FIELDS, quantile } from './lines.ts';
import { processorMs } from './processor.ts';

const [rows = 864_000, starts = 7] = process.argv.slice(2).map(Number);
const HOSTS = 100;
const ROWS = 5000;
const COUNT = 'SELECT count(*) FROM cpu';
const POLL_MS = 3;

type Ending = 'stop' | 'kill';
type Times = { readonly port: number; readonly ready: number; readonly right: number };
type Measured = { readonly wall: Times; readonly cpuMs: number };

const directory = await makeDirectory();
try {
  for (const ending of ['stop', 'kill'] as const) {
    const loaded = join(directory, ending);
    await load(loaded, ending);
    for (const command of ['tsdb', 'up'] as const) {
      const measured: Measured[] = [];
      for (let i = 0; i < starts; i++) {
        const copy = join(directory, 'copy');
        await cp(loaded, copy, { recursive: true });
        measured.push(await measureStart(command, copy));
        await removeDirectory(copy);
      }
      print(`${command} after ${ending}`, measured);
    }
  }
  await measureCommand(['--version']);
  await measureCommand(['tsdb', 'inspect', '--help']);
} finally {
  await removeDirectory(directory);
}

async function load(target: string, ending: Ending): Promise<void> {
  const server = await startTidemark({ command: 'tsdb', directory: target });
  await query(server.tsdb, 'CREATE DATABASE bench');
  const source = batches(HOSTS, ROWS);
  for (let written = 0; written < rows; written += ROWS) {
    const { value } = source.next();
    const body = Buffer.from(value as Uint8Array);
    const response = await fetch(`${server.tsdb}/write?db=bench`, { method: 'POST', body });
    if (response.status !== 204) throw new Error(`${response.status} ${await response.text()}`);
  }
  await (ending === 'stop' ? server.stop() : server.kill());
}

async function measureStart(command: 'tsdb' | 'up', data: string): Promise<Measured> {
  const port = await freePort();
  const bind = `127.0.0.1:${port}`;
  const binds =
    command === 'tsdb'
      ? ['--bind', bind]
      : ['--tsdb-bind', bind, '--engine-bind', '127.0.0.1:0', '--ui-bind', '127.0.0.1:0'];
  const began = performance.now();
  const line = [command, '--data-dir', data, ...binds];
  const child = spawn(EXECUTABLE, line, { stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'exit');
  try {
    const readyLine = once(createInterface({ input: child.stdout }), 'line');
    const ready = readyLine.then(() => performance.now() - began);
    const url = `http://${bind}`;
    const isPingAnswered = async (): Promise<boolean> => (await fetch(`${url}/health/live`)).ok;
    const answered = await firstTime(began, isPingAnswered);
    const right = await firstTime(began, () => isCountRight(url));
    return {
      wall: { port: answered, ready: await ready, right },
      cpuMs: processorMs(child.pid ?? 0),
    };
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

async function isCountRight(url: string): Promise<boolean> {
  const response = await fetch(`${url}/query?db=bench&q=${encodeURIComponent(COUNT)}`);
  const text = await response.text();
  const expected = Math.ceil(rows / ROWS) * ROWS;
  return response.ok && text.includes(FIELDS.map(() => expected).join(','));
}

/** When a condition held first, milliseconds after `began`. Not being reachable is not holding. */
async function firstTime(began: number, holds: () => Promise<boolean>): Promise<number> {
  while (!(await holds().catch(() => false))) {
    if (performance.now() - began > 60_000) throw new Error('no right answer within a minute');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return performance.now() - began;
}

async function measureCommand(args: readonly string[]): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < starts; i++) {
    const began = performance.now();
    await runTidemark(args);
    times.push(performance.now() - began);
  }
  process.stdout.write(`${`tidemark ${args.join(' ')}`.padEnd(28)} ${spread(times)} ms\n`);
}

function print(name: string, measured: readonly Measured[]): void {
  const of = (part: keyof Times): string => spread(measured.map(({ wall }) => wall[part]));
  const cpu = spread(measured.map(({ cpuMs }) => cpuMs));
  process.stdout.write(
    `${name.padEnd(28)} ms: port ${of('port')}, ready ${of('ready')}, right count ${of('right')}; CPU ${cpu}\n`,
  );
}

/** Shortest and middle. */
function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  return `${quantile(sorted, 0).toFixed(0)} / ${quantile(sorted, 0.5).toFixed(0)}`;
}
