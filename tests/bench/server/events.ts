// Events of services with a message nearly all of which are distinct, as logs are stored: a load by
// several writers, CPU until the server is at rest, the disk, and the statements of a log viewer,
// each the first time after the rest and again. With influxd installed everything runs there too,
// in turns. Runs the built executable. packages/cli/bin/node --conditions=source
// tests/bench/server/events.ts [events]
import { createHash } from 'node:crypto';
import { Agent } from 'node:http';

import { query } from '@tidemark/testkit';

import { DATABASE, withSubjects } from './beside-influxdb.ts';
import type { Subject } from './beside-influxdb.ts';
import { each, rest, show, showNames, sizeMb } from './figures.ts';
import { quantile } from './lines.ts';
import { memoryMiB, processorMs } from './processor.ts';
import { send } from './writer.ts';

const events = Number(process.argv[2] ?? 600_000);
const SERVICES = 20;
const HOSTS = 10;
const LINES = 5000;
const WRITERS = 4;
const REPEATS = 9;
const START_SECONDS = 1_700_000_000;
/** Ten events a second. */
const STEP_MS = 100;
const DEADLOCK_EVERY = 5000;

const hour = `time >= ${START_SECONDS + 7200}s AND time < ${START_SECONDS + 10_800}s`;

const STATEMENTS: readonly string[] = [
  'SELECT message FROM logs WHERE message =~ /id=7fff/ LIMIT 20',
  'SELECT count(message) FROM logs WHERE message =~ /deadlock.*rolled/',
  'SELECT distinct(level) FROM logs',
  'SELECT * FROM logs ORDER BY time DESC LIMIT 50',
  "SELECT * FROM logs WHERE service = 'service_7' ORDER BY time DESC LIMIT 50",
  `SELECT * FROM logs WHERE ${hour}`,
  `SELECT count(code) FROM logs WHERE level = 'error' AND time >= ${START_SECONDS}s AND time < ${START_SECONDS + Math.ceil((events * STEP_MS) / 1000)}s GROUP BY time(10m)`,
];

await withSubjects(async (subjects) => {
  showNames(subjects);
  const loads = await each(subjects, load);
  show(
    'load, rows/s',
    loads.map(({ ms }) => (events * 1000) / ms),
  );
  show(
    'load, p99 of a write, ms',
    loads.map(({ p99Ms }) => p99Ms),
  );
  show(
    'load, CPU s until at rest',
    loads.map(({ cpuMs }) => cpuMs / 1000),
  );
  show('disk, MB', await each(subjects, ({ directory }) => sizeMb(directory)));
  for (const statement of STATEMENTS) {
    show(
      `first: ${statement.slice(0, 62)}, ms`,
      await each(subjects, ({ url }) => timeOf(url, statement)),
    );
    const costs = await each(subjects, (subject) => again(subject, statement));
    show(
      'again, ms',
      costs.map(({ ms }) => ms),
    );
    show(
      'again, CPU ms',
      costs.map(({ cpuMs }) => cpuMs),
    );
  }
  show('peak of resident memory, MiB', await each(subjects, ({ pid }) => memoryMiB(pid, 'VmHWM')));
});

type Load = { readonly ms: number; readonly p99Ms: number; readonly cpuMs: number };

/** The time is without that which the client needs to make the lines. */
async function load({ url, pid, directory }: Subject): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: WRITERS });
  const before = processorMs(pid);
  const times: number[] = [];
  let ms = 0;
  for (let at = 0; at < events; at += LINES * WRITERS) {
    const starts = Array.from({ length: WRITERS }, (_, i) => at + i * LINES);
    const bodies = starts.filter((start) => start < events).map((start) => body(start));
    const began = performance.now();
    await Promise.all(
      bodies.map(async (lines) => {
        const sent = performance.now();
        const status = await send(`${url}/write?db=${DATABASE}&precision=ms`, agent, lines);
        if (status !== 204) throw new Error(`write answered ${status}`);
        times.push(performance.now() - sent);
      }),
    );
    ms += performance.now() - began;
  }
  agent.destroy();
  await rest({ directory });
  const sorted = times.toSorted((a, b) => a - b);
  return { ms, p99Ms: quantile(sorted, 0.99), cpuMs: processorMs(pid) - before };
}

/** The lines from an event on. */
function body(start: number): Uint8Array {
  const lines: string[] = [];
  for (let n = start; n < Math.min(events, start + LINES); n++) {
    const noise = createHash('sha256').update(`event ${n}`).digest('hex');
    const what =
      n % DEADLOCK_EVERY === 0
        ? `deadlock found, transaction ${n} was rolled back`
        : `request from 10.0.${n % 251}.${n % 13} took ${n % 977} ms`;
    const text = `id=${noise.slice(0, 12)} ${what}; trace ${noise}${noise} of ${n}`;
    const level = n % 20 === 0 ? 'error' : n % 5 === 0 ? 'warn' : 'info';
    const service = `service=service_${n % SERVICES},host=host_${Math.floor(n / SERVICES) % HOSTS}`;
    const time = START_SECONDS * 1000 + n * STEP_MS;
    lines.push(
      `logs,${service} message="${text.slice(0, 80 + ((n * 31) % 121))}",level="${level}",code=${n % 600}i ${time}`,
    );
  }
  return new TextEncoder().encode(lines.join('\n'));
}

async function timeOf(url: string, statement: string): Promise<number> {
  const began = performance.now();
  await query(url, statement, DATABASE);
  return performance.now() - began;
}

/** Medians of some requests. */
async function again(
  { url, pid }: Subject,
  statement: string,
): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const times: number[] = [];
  const before = processorMs(pid);
  for (let i = 0; i < REPEATS; i++) times.push(await timeOf(url, statement));
  const cpuMs = (processorMs(pid) - before) / REPEATS;
  return {
    ms: quantile(
      times.toSorted((a, b) => a - b),
      0.5,
    ),
    cpuMs,
  };
}
