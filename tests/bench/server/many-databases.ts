// Many databases, of a few series each: what it costs to create and to drop one, to load them until
// the server is at rest, to list their shards, to start with them, and the memory that they take.
// On Tidemark and, with influxd installed, an InfluxDB after it. CPU is that of the server's
// process, bytes are what it passed to the disk. Runs the built executable, or another one.
// packages/cli/bin/node --conditions=source tests/bench/server/many-databases.ts
// [databases] [shards of each] [executable]
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

import {
  hasPrograms,
  query,
  removeDirectory,
  startInfluxdb,
  startTidemark,
  write,
} from '@tidemark/testkit';

import { memoryMiB, processorMs } from './processor.ts';

const [databases = 500, shards = 1] = process.argv.slice(2, 4).map(Number);
const executable = process.argv[4];
const SERIES = 10;
/** Of each series, in each shard. */
const ROWS = 20;
const START_SECONDS = 1_700_000_000;
const WEEK_SECONDS = 604_800;
const DROPPED = Math.min(50, databases / 2);
const SHOWN = 10;
/** The server is at rest when it has used at most one step of its clock for so long. */
const REST_MS = 3000;

type Server = { readonly url: string; readonly pid: number };
type Kind = {
  readonly name: string;
  start(directory: string | undefined): Promise<Server & { readonly directory: string }>;
  stop(): Promise<void>;
};

for (const kind of [tidemark(), ...(hasPrograms('influxd') ? [influxdb()] : [])]) {
  process.stdout.write(`${kind.name}, ${databases} databases of ${shards} shards\n`);
  const { directory, ...server } = await kind.start(undefined);
  try {
    await measure(server);
    await kind.stop();
    const began = performance.now();
    const again = await kind.start(directory);
    await query(again.url, 'SELECT count(v) FROM m', nameOf(0));
    print('start to an answer, ms', performance.now() - began);
    print('  CPU ms', processorMs(again.pid));
    await rest(again.pid);
    print('memory after the start, MiB', memoryMiB(again.pid, 'VmRSS'));
    await measureDrops(again);
  } finally {
    await kind.stop();
    await removeDirectory(directory);
  }
}

async function measure(server: Server): Promise<void> {
  const { url, pid } = server;
  await each('CREATE DATABASE', server, databases, (i) =>
    query(url, `CREATE DATABASE ${nameOf(i)}`),
  );
  const before = processorMs(pid);
  const written = writtenMiB(pid);
  for (let i = 0; i < databases; i++) await write(url, nameOf(i), lines(), { precision: 's' });
  print('load, CPU ms', processorMs(pid) - before);
  await rest(pid);
  print('load until at rest, CPU ms', processorMs(pid) - before);
  print('  written, MiB', writtenMiB(pid) - written);
  await each('SHOW SHARDS', server, SHOWN, () => query(url, 'SHOW SHARDS'));
  print('memory, MiB', memoryMiB(pid, 'VmRSS'));
}

async function measureDrops(server: Server): Promise<void> {
  await each('DROP DATABASE', server, DROPPED, (i) =>
    query(server.url, `DROP DATABASE ${nameOf(i)}`),
  );
}

async function each(
  what: string,
  { pid }: Server,
  count: number,
  work: (i: number) => Promise<unknown>,
): Promise<void> {
  const before = processorMs(pid);
  const began = performance.now();
  for (let i = 0; i < count; i++) await work(i);
  print(`${what}, ms`, (performance.now() - began) / count);
  print('  CPU ms', (processorMs(pid) - before) / count);
}

function nameOf(database: number): string {
  return `db${database}`;
}

function lines(): string {
  const all: string[] = [];
  for (let shard = 0; shard < shards; shard++) {
    for (let series = 0; series < SERIES; series++) {
      for (let row = 0; row < ROWS; row++) {
        const time = START_SECONDS - shard * WEEK_SECONDS + row;
        all.push(`m,host=h${series} v=${row / 4} ${time}`);
      }
    }
  }
  return all.join('\n');
}

async function rest(pid: number): Promise<void> {
  for (let before = processorMs(pid), quietMs = 0; quietMs < REST_MS; quietMs += 500) {
    await wait(500);
    const now = processorMs(pid);
    if (now > before + 10) quietMs = 0;
    before = now;
  }
}

function writtenMiB(pid: number): number {
  const bytes = /write_bytes: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1];
  return Number(bytes) / 2 ** 20;
}

function print(what: string, value: number): void {
  process.stdout.write(`  ${what.padEnd(32)}${value.toFixed(2).padStart(10)}\n`);
}

function tidemark(): Kind {
  let stop = async (): Promise<unknown> => undefined;
  return {
    name: 'Tidemark',
    start: async (directory) => {
      const program = executable === undefined ? undefined : [process.execPath, executable];
      const args = ['--monitor-store-enabled', 'false'];
      const server = await startTidemark({ command: 'tsdb', directory, program, args });
      ({ stop } = server);
      return { url: server.tsdb, pid: server.process.pid ?? 0, directory: server.directory };
    },
    stop: async () => void (await stop()),
  };
}

function influxdb(): Kind {
  let stop = async (): Promise<unknown> => undefined;
  return {
    name: 'InfluxDB',
    start: async (known) => {
      const { url, process: child, directory } = await startInfluxdb({ directory: known });
      stop = async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      };
      return { url, pid: child.pid ?? 0, directory };
    },
    stop: async () => void (await stop()),
  };
}
