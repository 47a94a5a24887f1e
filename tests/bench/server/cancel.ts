// How soon heavy statements end: for every kind of statement and every way to end one, the time
// until it is not listed by SHOW QUERIES any more, the processor time that the server takes
// meanwhile, and the longest round of the event loops of its threads while it ran. Limits are so
// low that they are reached with the first rows: their time includes all that comes before. Runs
// the built executable. packages/cli/bin/node --conditions=source tests/bench/server/cancel.ts
// [repeats] [part of a way's or statement's name …]
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import type { ClientRequest } from 'node:http';

import { makeDirectory, query, removeDirectory, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { HEAVY, heavyData } from './heavy.ts';
import { PROBE_WRITES_EVERY_MS, probed, readRounds } from './rounds.ts';
import { write } from './writer.ts';

const [repeats = 4] = process.argv.slice(2).map(Number).filter(Number.isInteger);
const ROWS = 5000;
const TIMEOUT_MS = 300;
/** A statement that no limit has ended by then does not reach it. */
const PATIENCE_MS = 5000;
/**
 * Processor time that the server has spent on a statement when it is ended by hand, so that several
 * phases are met.
 */
const WORK_CPU_MS: readonly number[] = [30, 150, 600, 2000];
/** Work that goes on behind the end would be seen in this time. */
const AFTERMATH_MS = 50;
// A disk that others keep busy must not end the load.
const NO_LIMITS = [
  '--coordinator-write-timeout=10m',
  '--monitor-store-enabled=false',
  '--data-max-series-per-database=0',
  '--data-max-values-per-tag=0',
];

/** A way to end a statement: settings of the server, and what the client does. */
type Way = {
  readonly name: string;
  readonly setting?: string;
  readonly act: 'wait' | 'kill' | 'disconnect';
  /** Part of the answer that says that the limit was reached. */
  readonly sign?: string;
};

const WAYS: readonly Way[] = [
  { name: 'KILL QUERY', act: 'kill' },
  { name: 'client gone', act: 'disconnect' },
  {
    name: 'query-timeout',
    act: 'wait',
    setting: `--coordinator-query-timeout=${TIMEOUT_MS}ms`,
    sign: 'query-timeout',
  },
  {
    name: 'query-memory-limit',
    act: 'wait',
    setting: '--coordinator-query-memory-limit=64k',
    sign: 'query-memory-limit',
  },
  {
    name: 'max-select-point',
    act: 'wait',
    setting: '--coordinator-max-select-point=1000',
    sign: 'max-select-point',
  },
  {
    name: 'max-select-series',
    act: 'wait',
    setting: '--coordinator-max-select-series=10',
    sign: 'max-select-series',
  },
  {
    name: 'max-select-buckets',
    act: 'wait',
    setting: '--coordinator-max-select-buckets=100',
    sign: 'max-select-buckets',
  },
  {
    name: 'max-row-limit',
    act: 'wait',
    setting: '--http-max-row-limit=1000',
    sign: '"partial":true',
  },
];

type Ending = {
  /** From the limit (or the kill) to the end. */
  readonly wallMs: number;
  /** Processor time of the server meanwhile, and a moment longer. */
  readonly cpuMs: number;
  /** The whole statement, ms since 1970. */
  readonly from: number;
  readonly to: number;
};

const wanted = process.argv.slice(2).filter((word) => !/^\d+$/.test(word));
const isWanted = (way: Way, statement: string): boolean =>
  wanted.length === 0 || wanted.some((part) => way.name.includes(part) || statement.includes(part));
const agent = new Agent({ keepAlive: true });
const directory = await makeDirectory();
const probeDirectory = await makeDirectory();
try {
  const loading = await startTidemark({ command: 'tsdb', directory, args: NO_LIMITS });
  await query(loading.tsdb, 'CREATE DATABASE bench');
  const options = { url: loading.tsdb, agent, bodies: heavyData(), rowsPerBody: ROWS };
  await write({ ...options, connections: 2 }, { durationMs: Infinity, everyMs: 0 });
  await loading.stop();
  process.stdout.write(
    'way                  statement                     middle  longest ms  CPU ms  main   storage (longest round)\n',
  );
  for (const way of WAYS) await measureWay(way);
} finally {
  agent.destroy();
  await removeDirectory(directory);
  await removeDirectory(probeDirectory);
}

async function measureWay(way: Way): Promise<void> {
  const statements = Object.entries(HEAVY).filter(([name]) => isWanted(way, name));
  if (statements.length === 0) return;
  const roundsDirectory = await makeDirectory();
  const server = await startTidemark({
    command: 'tsdb',
    directory,
    args: way.setting === undefined ? NO_LIMITS : [...NO_LIMITS, way.setting],
    environment: probed(roundsDirectory),
  });
  try {
    for (const [name, text] of statements) {
      const endings: Ending[] = [];
      for (let i = 0; i < repeats; i++) {
        const ending = await endOf(server, way, { text, workCpuMs: WORK_CPU_MS[i] ?? 0 });
        if (ending !== undefined) endings.push(ending);
        // A limit that was not reached once will not be the next time.
        else if (way.act === 'wait') break;
      }
      await sleep(PROBE_WRITES_EVERY_MS * 1.5);
      print(way, name, endings, roundsDirectory);
    }
  } finally {
    await server.stop();
    await removeDirectory(roundsDirectory);
  }
}

/** Starts the statement and ends it; `undefined` when it came to its own end. */
async function endOf(
  server: Tidemark,
  way: Way,
  { text, workCpuMs }: { readonly text: string; readonly workCpuMs: number },
): Promise<Ending | undefined> {
  const from = now();
  let began = from;
  let cpuBefore = processorMs(server);
  const asked = ask(server.tsdb, text);
  if (way.act === 'wait') {
    const answer = await Promise.race([asked.answer, sleep(PATIENCE_MS)]);
    if (answer === undefined || !answer.includes(way.sign ?? '')) {
      asked.request.destroy();
      await asked.answer;
      await isGone(server, text);
      return undefined;
    }
  } else {
    const id = await idOf(server, text);
    if (id === undefined) return undefined;
    const enough = cpuBefore + workCpuMs;
    while (processorMs(server) < enough && !asked.isOver()) await sleep(2);
    began = now();
    cpuBefore = processorMs(server);
    if (asked.isOver()) return undefined;
    if (way.act === 'disconnect') asked.request.destroy();
    else if (!(await kill(server, id))) return undefined;
  }
  await isGone(server, text);
  const wallMs = now() - began - (way.name === 'query-timeout' ? TIMEOUT_MS : 0);
  await sleep(AFTERMATH_MS);
  const cpuMs = processorMs(server) - cpuBefore;
  await asked.answer;
  return { wallMs, cpuMs, from, to: now() };
}

type Asked = {
  readonly request: ClientRequest;
  /** The end of the answer's text, as far as it came. */
  readonly answer: Promise<string>;
  readonly isOver: () => boolean;
};

/** Sends the statement. */
function ask(url: string, text: string): Asked {
  const outgoing = request(`${url}/query?db=bench`, { method: 'POST' });
  outgoing.setHeader('content-type', 'application/x-www-form-urlencoded');
  const answer = new Promise<string>((resolve) => {
    let tail = '';
    // It is broken off on purpose.
    outgoing.on('error', () => resolve(tail));
    outgoing.on('response', (response) => {
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (tail = (tail + piece).slice(-1000)));
      response.on('error', () => resolve(tail));
      response.on('close', () => resolve(tail));
    });
  });
  outgoing.end(new URLSearchParams({ q: text }).toString());
  let isOver = false;
  void answer.then(() => (isOver = true)); // It never rejects.
  return { request: outgoing, answer, isOver: () => isOver };
}

/** The statement's number among the running ones; `undefined` when it has already ended. */
async function idOf(server: Tidemark, text: string): Promise<number | undefined> {
  const deadline = now() + PATIENCE_MS;
  while (now() < deadline) {
    const found = (await running(server)).find(([, shown]) => isSame(shown, text));
    if (found !== undefined) return found[0];
  }
  return undefined;
}

async function isGone(server: Tidemark, text: string): Promise<void> {
  while ((await running(server)).some(([, shown]) => isSame(shown, text))) await sleep(2);
}

/**
 * The list shows queries with qualified names and normalised blanks; their first letters
 * distinguish SELECT and INTO from the statement that asks.
 */
function isSame(shown: string, text: string): boolean {
  return shown !== 'SHOW QUERIES' && shown.startsWith(text.slice(0, 6));
}

async function running({ tsdb }: Tidemark): Promise<readonly (readonly [number, string])[]> {
  const [series] = await query(tsdb, 'SHOW QUERIES');
  return (series?.values ?? []).map(([id, text]) => [Number(id), String(text)] as const);
}

async function kill({ tsdb }: Tidemark, id: number): Promise<boolean> {
  try {
    await query(tsdb, `KILL QUERY ${id}`);
    return true;
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

function print(way: Way, statement: string, endings: readonly Ending[], rounds: string): void {
  const walls = endings.map(({ wallMs }) => wallMs).toSorted((a, b) => a - b);
  const label = `${way.name.padEnd(20)} ${statement.padEnd(30)}`;
  if (walls.length === 0) {
    process.stdout.write(`${label} –\n`);
    return;
  }
  const longest = (thread: (name: string) => boolean): number =>
    Math.max(
      0,
      ...[...readRounds(rounds)]
        .filter(([name]) => thread(name))
        .flatMap(([, all]) => all)
        .filter(({ endedMs }) => endings.some(({ from, to }) => endedMs >= from && endedMs <= to))
        .map(({ cpuMs }) => cpuMs),
    );
  const numbers = [
    walls[walls.length >> 1] ?? 0,
    walls.at(-1) ?? 0,
    Math.max(...endings.map(({ cpuMs }) => cpuMs)),
    longest((name) => name === 'main'),
    longest((name) => name !== 'main'),
  ];
  process.stdout.write(`${label} ${numbers.map((ms) => ms.toFixed(0).padStart(7)).join(' ')}\n`);
}

/** Processor time of all threads of the server so far. */
function processorMs({ process: { pid } }: Tidemark): number {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [spent] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    sum += Number(spent) / 1e6;
  }
  return sum;
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

function sleep(ms: number): Promise<undefined> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms);
  });
}
