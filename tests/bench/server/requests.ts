// The cost of small writes: lines of ten fields, some in each request, from many connections that
// wait for their answers; several builds, several ways to run them (`request-variants.ts`), and
// InfluxDB and VictoriaMetrics, in turns. Prints for each requests a second, CPU of the server per
// request, and p50 and p99: medians of the rounds; requests of a sync of the log, and how much the
// server's memory is. packages/cli/bin/node --conditions=source tests/bench/server/requests.ts
// [executable ...]
//   [--clients 1,32,256] [--lines 1,20,200] [--rounds 5] [--seconds 2]
//   [--variants plain,password,token,tls,…] [--victoria-metrics PROGRAM] [--alone: without peers]
import { parseArgs } from 'node:util';

import { hasPrograms, removeDirectory, startInfluxdb, startTidemark } from '@tidemark/testkit';

import { KeepAlive } from './keep-alive.ts';
import { FIELDS, quantile } from './lines.ts';
import { memoryMiB, processorMs } from './processor.ts';
import { variantOf } from './request-variants.ts';
import { startVictoriaMetrics } from './victoria-metrics.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    alone: { type: 'boolean', default: false },
    clients: { type: 'string', default: '1,32,256' },
    lines: { type: 'string', default: '1,20,200' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    variants: { type: 'string', default: 'plain' },
    'victoria-metrics': { type: 'string', default: '' },
  },
});
const rounds = Number(options.rounds);
const roundMs = Number(options.seconds) * 1000;
const numbers = (text: string): readonly number[] => text.split(',').map(Number);
/** The first requests of a server are slower: V8 compiles what they use. */
const WARM_UP_ROUNDS = 2;
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

/** Each client is a host that writes the next second. */
class Device {
  readonly #tags: string;
  #time = 1_451_606_400;

  constructor(number: number) {
    this.#tags = `hostname=host_${number},region=r${number % 7}`;
  }

  body(lines: number): string {
    let text = '';
    for (let i = 0; i < lines; i++) {
      const fields = FIELDS.map((name, at) => `${name}=${(this.#time + at) % 100}i`);
      text += `cpu,${this.#tags} ${fields.join(',')} ${this.#time++}000000000\n`;
    }
    return text;
  }
}

type Round = {
  readonly rate: number;
  readonly cpuMs: number;
  readonly latencies: number[];
  readonly perSync: number;
};

type Server = {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly stop: () => Promise<void>;
};

class Subject {
  readonly #server: Server;
  #connections: readonly (readonly [KeepAlive, Device])[] = [];

  constructor(server: Server) {
    this.#server = server;
  }

  get name(): string {
    return this.#server.name;
  }

  get memoryMiB(): number {
    return memoryMiB(this.#server.pid, 'VmRSS');
  }

  async connect(clients: number): Promise<void> {
    this.disconnect();
    this.#connections = await Promise.all(
      Array.from(
        { length: clients },
        async (_, i) => [await KeepAlive.open(this.#server.url), new Device(i)] as const,
      ),
    );
  }

  disconnect(): void {
    for (const [connection] of this.#connections) connection.close();
    this.#connections = [];
  }

  async round(lines: number): Promise<Round> {
    const { pid, headers } = this.#server;
    const latencies: number[] = [];
    const syncsBefore = await this.#syncs();
    const before = processorMs(pid);
    const began = performance.now();
    const work = this.#connections.map(async ([connection, device]) => {
      while (performance.now() - began < roundMs) {
        const body = device.body(lines);
        const start = performance.now();
        const status = await connection.post('/write?db=bench', body, headers);
        if (status !== 204) throw new Error(`write answered ${status}`);
        latencies.push(performance.now() - start);
      }
    });
    await Promise.all(work);
    const ms = performance.now() - began;
    const cpuMs = (processorMs(pid) - before) / latencies.length;
    const perSync = latencies.length / ((await this.#syncs()) - syncsBefore);
    return { rate: (latencies.length * 1000) / ms, cpuMs, latencies, perSync };
  }

  /** Syncs of the log so far; `NaN` for a server that does not tell. */
  async #syncs(): Promise<number> {
    const { url, headers = {} } = this.#server;
    if (!url.startsWith('http:')) return Number.NaN;
    const answer = await fetch(`${url}/metrics`, { headers });
    return Number(/wal_syncs_total (\d+)/.exec(await answer.text())?.[1] ?? Number.NaN);
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }
}

async function statement(url: string, q: string, headers = {}): Promise<void> {
  const connection = await KeepAlive.open(url);
  const body = new URLSearchParams({ q }).toString();
  const status = await connection.post('/query', body, { ...FORM, ...headers });
  connection.close();
  if (status !== 200) throw new Error(`${q}: answered ${status}`);
}

async function tokenOf(url: string, authorization: string): Promise<string> {
  const answer = await fetch(`${url}/api/tokens`, {
    method: 'POST',
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    body: JSON.stringify({ user: 'root', name: 'bench' }),
  });
  const { token } = (await answer.json()) as { readonly token?: string };
  if (token === undefined) throw new Error(`no token: ${answer.status}`);
  return token;
}

async function startBuild(executable: string | undefined, variant: string): Promise<Server> {
  const { args, credentials } = variantOf(variant);
  const server = await startTidemark({
    command: 'tsdb',
    program: executable === undefined ? undefined : [process.execPath, executable],
    args: ['--monitor-store-enabled', 'false', ...args],
  });
  const url = server.tsdb;
  let headers: Record<string, string> | undefined;
  if (credentials !== undefined) {
    await statement(url, "CREATE USER root WITH PASSWORD 'pw' WITH ALL PRIVILEGES");
    headers = { Authorization: `Basic ${btoa('root:pw')}` };
    if (credentials === 'api-token') {
      headers = { Authorization: `Bearer ${await tokenOf(url, headers['Authorization']!)}` };
    }
  }
  await statement(url, 'CREATE DATABASE bench', headers);
  const stop = async (): Promise<void> => {
    await server.stop();
    await removeDirectory(server.directory);
  };
  return { name: `Tidemark ${variant}`, url, pid: server.process.pid ?? 0, headers, stop };
}

async function startAll(): Promise<readonly Subject[]> {
  const subjects: Subject[] = [];
  for (const [i, executable] of (positionals.length === 0 ? [undefined] : positionals).entries()) {
    for (const variant of options.variants.split(',')) {
      const server = await startBuild(executable, variant);
      const name = positionals.length > 1 ? `${server.name} ${i + 1}` : server.name;
      subjects.push(new Subject({ ...server, name }));
    }
  }
  if (options.alone) return subjects;
  if (hasPrograms('influxd')) {
    const { url, process: child, stop } = await startInfluxdb();
    subjects.push(new Subject({ name: 'InfluxDB', url, pid: child.pid ?? 0, stop }));
    await statement(url, 'CREATE DATABASE bench');
  }
  const program = options['victoria-metrics'];
  if (program !== '') subjects.push(new Subject(await startVictoriaMetrics(program)));
  return subjects;
}

function report(name: string, all: readonly Round[]): string {
  const median = (of: (round: Round) => number): number =>
    quantile(
      all.map(of).toSorted((a, b) => a - b),
      0.5,
    );
  const latency = (part: number): string =>
    median(({ latencies }) =>
      quantile(
        latencies.toSorted((a, b) => a - b),
        part,
      ),
    ).toFixed(1);
  const rate = median((round) => round.rate).toFixed(0);
  const cpu = median((round) => round.cpuMs).toFixed(3);
  const perSync = median((round) => round.perSync);
  const syncs = Number.isNaN(perSync) ? '' : `  ${perSync.toFixed(1)} a sync`;
  return `  ${name.padEnd(24)} ${rate.padStart(7)}/s  CPU ${cpu} ms  p50 ${latency(0.5)} p99 ${latency(0.99)} ms${syncs}`;
}

const subjects = await startAll();
try {
  for (const clients of numbers(options.clients)) {
    for (const lines of numbers(options.lines)) {
      const measured = subjects.map((): Round[] => []);
      for (const subject of subjects) {
        await subject.connect(clients);
        for (let round = 0; round < WARM_UP_ROUNDS; round++) await subject.round(lines);
      }
      for (let round = 0; round < rounds; round++) {
        for (const [i, subject] of subjects.entries()) {
          measured[i]!.push(await subject.round(lines));
        }
      }
      process.stdout.write(`${lines} lines, ${clients} clients\n`);
      for (const [i, { name, memoryMiB: mib }] of subjects.entries()) {
        process.stdout.write(`${report(name, measured[i]!)}  RSS ${mib.toFixed(0)} MiB\n`);
      }
    }
  }
} finally {
  for (const subject of subjects) {
    subject.disconnect();
    await subject.stop();
  }
}
