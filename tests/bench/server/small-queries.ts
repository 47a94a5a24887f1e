// The cost of small queries: several builds on the same points, asked in turn, so that whatever
// else the machine does hits all of them. Hosts and times are drawn again for every request, as in
// the dashboards of many people. Prints for each build the lowest decile and the lower quartile of
// the rounds' CPU per request (of all threads, of the one of sockets, of the storage thread), p50
// and p95 of all requests, and the median of the rounds' requests a second.
// packages/cli/bin/node --conditions=source tests/bench/server/small-queries.ts [executable ...]
//   [--clients 1] [--rounds 30] [--requests 200] [--warm 2000] [--rows 432000] [--only NAME,NAME]
//   [--args '--flags of the server'] [--ours: as the web application asks, in chunks]
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { query, removeDirectory, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { askAsOurs, KeepAlive } from './keep-alive.ts';
import { batches, quantile, START } from './lines.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    clients: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '30' },
    requests: { type: 'string', default: '200' },
    warm: { type: 'string', default: '2000' },
    rows: { type: 'string', default: '432000' },
    only: { type: 'string', default: '' },
    args: { type: 'string', default: '' },
    ours: { type: 'boolean', default: false },
  },
});
const clients = Number(options.clients);
const rounds = Number(options.rounds);
const requests = Number(options.requests);
const warm = Number(options.warm);
const HOSTS = 100;
const ROWS_PER_BODY = 5000;
const SECOND = 1_000_000_000n;
/** Seconds of data: a row of each host every ten. */
const spanSeconds = (Number(options.rows) / HOSTS) * 10;

/** A text with other hosts and times each time. */
type Kind = { readonly name: string; readonly text: () => string };

const KINDS: readonly Kind[] = [
  { name: 'single-groupby-1-1-1', text: () => maxima(1, 1, 1, '1m') },
  { name: 'single-groupby-1-1-12', text: () => maxima(1, 1, 12, '1m') },
  { name: 'single-groupby-1-8-1', text: () => maxima(1, 8, 1, '1m') },
  { name: 'single-groupby-5-1-1', text: () => maxima(5, 1, 1, '1m') },
  { name: 'single-groupby-5-8-1', text: () => maxima(5, 8, 1, '1m') },
  { name: 'one-to-eight-hosts', text: () => maxima(1, 1 + Math.floor(Math.random() * 8), 1, '1m') },
  {
    name: 'eight-by-pattern',
    text: () => maxima(1, 8, 1, '1m').replace(/\(hostname.*?\)/, byPattern),
  },
  { name: 'cpu-max-all-1', text: () => maxima(10, 1, 8, '1h') },
  { name: 'raw-rows-1', text: () => `SELECT usage_0 FROM cpu WHERE ${hosts(1)} AND ${range(1)}` },
  { name: 'last', text: () => `SELECT last(usage_0) FROM cpu WHERE ${hosts(1)} AND ${range(1)}` },
  { name: 'show-tag-values', text: () => 'SHOW TAG VALUES FROM cpu WITH KEY = region' },
];

function maxima(fields: number, count: number, hours: number, every: string): string {
  const calls = Array.from({ length: fields }, (_, i) => `max(usage_${i})`).join(', ');
  return `SELECT ${calls} FROM cpu WHERE ${hosts(count)} AND ${range(hours)} GROUP BY time(${every})`;
}

function hosts(count: number): string {
  const names = new Set<number>();
  while (names.size < count) names.add(Math.floor(Math.random() * HOSTS));
  return `(${[...names].map((name) => `hostname = 'host_${name}'`).join(' OR ')})`;
}

/** The same hosts, as Grafana writes them. */
function byPattern(condition: string): string {
  return `hostname =~ /^(${condition.match(/host_\d+/g)?.join('|')})$/`;
}

function range(hours: number): string {
  const length = Math.min(hours * 3600, spanSeconds);
  const from = START + BigInt(Math.floor(Math.random() * (spanSeconds - length))) * SECOND;
  return `time >= '${iso(from)}' AND time < '${iso(from + BigInt(length) * SECOND)}'`;
}

function iso(nanos: bigint): string {
  return new Date(Number(nanos / 1_000_000n)).toISOString().replace('.000', '');
}

/** A server that is measured, and what it has taken. */
class Measured {
  readonly #server: Tidemark;
  #connections: readonly KeepAlive[] = [];
  #rounds: (readonly [all: number, sockets: number, storage: number])[] = [];
  #rates: number[] = [];
  #latencies: number[] = [];

  private constructor(server: Tidemark) {
    this.#server = server;
  }

  static async open(executable: string | undefined): Promise<Measured> {
    const args = ['--monitor-store-enabled', 'false', ...options.args.split(' ').filter(Boolean)];
    const program = executable === undefined ? undefined : [process.execPath, executable];
    const server = await startTidemark({ command: 'tsdb', program, args });
    await query(server.tsdb, 'CREATE DATABASE bench');
    const bodies = batches(HOSTS, ROWS_PER_BODY);
    for (let rows = 0; rows < Number(options.rows); rows += ROWS_PER_BODY) {
      const body = bodies.next().value as Uint8Array<ArrayBuffer>;
      const answer = await fetch(`${server.tsdb}/write?db=bench`, { method: 'POST', body });
      if (answer.status !== 204) throw new Error(`write answered ${answer.status}`);
    }
    return new Measured(server);
  }

  /** Unmeasured requests over new connections: idle ones do not stay open for long. */
  async warmUp(kind: Kind): Promise<void> {
    this.#disconnect();
    this.#connections = await Promise.all(
      Array.from({ length: clients }, () => KeepAlive.open(this.#server.tsdb)),
    );
    await this.#ask(kind, warm);
    this.#rounds = [];
    this.#rates = [];
    this.#latencies = [];
  }

  /** Requests of a kind, over all connections. */
  async #ask({ text }: Kind, count: number): Promise<void> {
    let left = count;
    const work = this.#connections.map(async (connection) => {
      while (left-- > 0) {
        const form = new URLSearchParams({ db: 'bench', epoch: 'ms', q: text() });
        const start = performance.now();
        const status = options.ours
          ? await askAsOurs(connection, form)
          : await connection.get(`/query?${form}`);
        if (status !== 200) throw new Error(`query answered ${status}`);
        this.#latencies.push(performance.now() - start);
      }
    });
    await Promise.all(work);
  }

  async round(kind: Kind, count: number): Promise<void> {
    const before = threadMs(this.#server.process.pid ?? 0);
    const began = performance.now();
    await this.#ask(kind, count);
    this.#rates.push((count / (performance.now() - began)) * 1000);
    const after = threadMs(this.#server.process.pid ?? 0);
    const spent = [...after].map(([id, ms]) => [id, ms - (before.get(id) ?? 0)] as const);
    const sockets = spent.find(([id]) => id === this.#server.process.pid)?.[1] ?? 0;
    const others = spent.filter(([id]) => id !== this.#server.process.pid).map(([, ms]) => ms);
    const all = spent.reduce((sum, [, ms]) => sum + ms, 0);
    this.#rounds.push([all / count, sockets / count, Math.max(...others) / count]);
  }

  get report(): string {
    const [all, sockets, storage] = [0, 1, 2].map((at) =>
      this.#rounds.map((one) => one[at] ?? 0).sort((a, b) => a - b),
    );
    const cpu = [0.1, 0.25].map((part) =>
      [all, sockets, storage].map((one = []) => quantile(one, part).toFixed(3)).join(' '),
    );
    const latencies = this.#latencies.sort((a, b) => a - b);
    const times = [0.5, 0.95].map((part) => quantile(latencies, part).toFixed(2));
    const rates = this.#rates.sort((a, b) => a - b);
    return `CPU ${cpu.join(' | ')}   p50 ${times[0]} p95 ${times[1]}   ${quantile(rates, 0.5).toFixed(0)}/s`;
  }

  #disconnect(): void {
    for (const connection of this.#connections) connection.close();
  }

  async close(): Promise<void> {
    this.#disconnect();
    await this.#server.stop();
    await removeDirectory(this.#server.directory);
  }
}

/** Milliseconds that the threads of a process have run. */
function threadMs(pid: number): ReadonlyMap<number, number> {
  const threads = new Map<number, number>();
  for (const id of readdirSync(`/proc/${pid}/task`)) {
    const nanos = readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0];
    threads.set(Number(id), Number(nanos) / 1e6);
  }
  return threads;
}

const executables = positionals.length === 0 ? [undefined] : positionals;
const only = options.only.split(',').filter((name) => name !== '');
const servers = await Promise.all(executables.map((executable) => Measured.open(executable)));
try {
  for (const kind of KINDS.filter(({ name }) => only.length === 0 || only.includes(name))) {
    for (const server of servers) await server.warmUp(kind);
    for (let round = 0; round < rounds; round++) {
      for (const server of servers) await server.round(kind, requests);
    }
    for (const [i, server] of servers.entries()) {
      process.stdout.write(`${i} ${kind.name.padEnd(22)} ${server.report}\n`);
    }
  }
} finally {
  for (const server of servers) await server.close();
}
