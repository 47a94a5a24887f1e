// The cost of small writes: lines of ten fields, some in each request, from many connections that
// wait for their answers; several builds and InfluxDB, in turns. Prints for each requests a second,
// CPU of the server per request, and p50 and p99: medians of the rounds. packages/cli/bin/node
// --conditions=source tests/bench/server/requests.ts [executable ...]
//   [--clients 1,32,256] [--lines 1,20,200] [--rounds 5] [--seconds 2]
import { parseArgs } from 'node:util';

import {
  hasPrograms,
  query,
  removeDirectory,
  startInfluxdb,
  startTidemark,
} from '@tidemark/testkit';

import { KeepAlive } from './keep-alive.ts';
import { FIELDS, quantile } from './lines.ts';
import { processorMs } from './processor.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    clients: { type: 'string', default: '1,32,256' },
    lines: { type: 'string', default: '1,20,200' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
  },
});
const rounds = Number(options.rounds);
const roundMs = Number(options.seconds) * 1000;
const numbers = (text: string): readonly number[] => text.split(',').map(Number);

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

type Round = { readonly rate: number; readonly cpuMs: number; readonly latencies: number[] };

class Subject {
  readonly name: string;
  readonly #url: string;
  readonly #pid: number;
  readonly stop: () => Promise<void>;
  #connections: readonly (readonly [KeepAlive, Device])[] = [];

  constructor(name: string, url: string, pid: number, stop: () => Promise<void>) {
    this.name = name;
    this.#url = url;
    this.#pid = pid;
    this.stop = stop;
  }

  async connect(clients: number): Promise<void> {
    this.disconnect();
    this.#connections = await Promise.all(
      Array.from(
        { length: clients },
        async (_, i) => [await KeepAlive.open(this.#url), new Device(i)] as const,
      ),
    );
  }

  disconnect(): void {
    for (const [connection] of this.#connections) connection.close();
    this.#connections = [];
  }

  async round(lines: number): Promise<Round> {
    const latencies: number[] = [];
    const before = processorMs(this.#pid);
    const began = performance.now();
    const work = this.#connections.map(async ([connection, device]) => {
      while (performance.now() - began < roundMs) {
        const body = device.body(lines);
        const start = performance.now();
        const status = await connection.post('/write?db=bench', body);
        if (status !== 204) throw new Error(`write answered ${status}`);
        latencies.push(performance.now() - start);
      }
    });
    await Promise.all(work);
    const ms = performance.now() - began;
    const cpuMs = (processorMs(this.#pid) - before) / latencies.length;
    return { rate: (latencies.length * 1000) / ms, cpuMs, latencies };
  }
}

async function startAll(): Promise<readonly Subject[]> {
  const subjects: Subject[] = [];
  for (const executable of positionals.length === 0 ? [undefined] : positionals) {
    const args = ['--monitor-store-enabled', 'false'];
    const program = executable === undefined ? undefined : [process.execPath, executable];
    const server = await startTidemark({ command: 'tsdb', program, args });
    const stop = async (): Promise<void> => {
      await server.stop();
      await removeDirectory(server.directory);
    };
    const name = `Tidemark ${subjects.length + 1}`;
    subjects.push(new Subject(name, server.tsdb, server.process.pid ?? 0, stop));
    await query(server.tsdb, 'CREATE DATABASE bench');
  }
  if (!hasPrograms('influxd')) return subjects;
  const influxdb = await startInfluxdb();
  const { url, process: child } = influxdb;
  subjects.push(new Subject('InfluxDB', url, child.pid ?? 0, () => influxdb.stop()));
  await query(url, 'CREATE DATABASE bench');
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
  return `  ${name.padEnd(12)} ${rate.padStart(7)}/s  CPU ${cpu} ms  p50 ${latency(0.5)} p99 ${latency(0.99)} ms`;
}

const subjects = await startAll();
try {
  for (const clients of numbers(options.clients)) {
    for (const lines of numbers(options.lines)) {
      const measured = subjects.map((): Round[] => []);
      for (const subject of subjects) {
        await subject.connect(clients);
        await subject.round(lines); // Warms up.
      }
      for (let round = 0; round < rounds; round++) {
        for (const [i, subject] of subjects.entries()) {
          measured[i]!.push(await subject.round(lines));
        }
      }
      process.stdout.write(`${lines} lines, ${clients} clients\n`);
      for (const [i, { name }] of subjects.entries()) {
        process.stdout.write(`${report(name, measured[i]!)}\n`);
      }
    }
  }
} finally {
  for (const subject of subjects) {
    subject.disconnect();
    await subject.stop();
  }
}
