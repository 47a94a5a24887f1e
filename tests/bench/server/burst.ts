// A burst on a wall of dashboards: two writers (20,000 rows a second together), six dashboards of
// four panels each, which ask for all four at once and again when they are answered, and an analyst
// who asks for percentiles of six hours of 200 hosts by minute and host. Prints how long writes,
// panels and the analyst's query take, for Tidemark and InfluxDB one after the other; CPU is that
// of the server. Runs the built executable.
// packages/cli/bin/node --conditions=source tests/bench/server/burst.ts [seconds]
import { setTimeout as wait } from 'node:timers/promises';

import { query, write } from '@tidemark/testkit';

import { DATABASE, withSubjects } from './beside-influxdb.ts';
import type { Subject } from './beside-influxdb.ts';
import { each, show, showNames } from './figures.ts';
import { quantile } from './lines.ts';
import { processorMs } from './processor.ts';

const [seconds = 20] = process.argv.slice(2).map(Number);
const HOSTS = 200;
const START_SECONDS = 1_700_000_000;
const HISTORY_SECONDS = 6 * 3600;
const STEP_SECONDS = 10;
const ROWS_PER_WRITE = 1000;
const WRITERS = 2;
const WRITE_EVERY_MS = 100;
const DASHBOARDS = 6;
const REFRESH_MS = 1000;

const HISTORY = `time >= ${START_SECONDS}s AND time < ${START_SECONDS + HISTORY_SECONDS}s`;
const LAST_HOUR = `time >= ${START_SECONDS + HISTORY_SECONDS - 3600}s AND time < ${START_SECONDS + HISTORY_SECONDS}s`;
const PANELS: readonly string[] = [
  `SELECT mean(used), max(used) FROM cpu WHERE ${LAST_HOUR} GROUP BY time(10s), host`,
  `SELECT mean(waited) FROM cpu WHERE ${HISTORY} GROUP BY time(1m), region`,
  `SELECT max(idle) FROM cpu WHERE ${LAST_HOUR} GROUP BY time(1m)`,
  `SELECT last(used) FROM cpu WHERE ${HISTORY} GROUP BY host`,
];
const REPORT = `SELECT percentile(used, 95), stddev(used), spread(used) FROM cpu WHERE ${HISTORY} GROUP BY time(1m), host`;

type Times = { readonly writes: number[]; readonly panels: number[]; readonly reports: number[] };

await withSubjects(async (subjects) => {
  showNames(subjects);
  await each(subjects, fill);
  const before = subjects.map(({ pid }) => processorMs(pid));
  const times: Times[] = [];
  for (const subject of subjects) times.push(await burst(subject));
  const after = subjects.map(({ pid }) => processorMs(pid));
  for (const [what, kind] of [
    ['a write', 'writes'],
    ['a panel', 'panels'],
    ["the analyst's query", 'reports'],
  ] as const) {
    for (const [name, share] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ] as const) {
      show(
        `${what}, ${name} ms`,
        times.map((one) =>
          quantile(
            one[kind].toSorted((a, b) => a - b),
            share,
          ),
        ),
      );
    }
    show(
      `${what}, number`,
      times.map((one) => one[kind].length),
    );
  }
  show(
    'CPU of the server, cores',
    subjects.map((_, i) => (after[i]! - before[i]!) / seconds / 1000),
  );
});

async function fill({ url }: Subject): Promise<void> {
  for (let at = 0; at < HISTORY_SECONDS; at += 5 * STEP_SECONDS) {
    const lines = Array.from({ length: HOSTS * 5 }, (_, i) =>
      line(i % HOSTS, at + Math.floor(i / HOSTS) * STEP_SECONDS),
    );
    await write(url, DATABASE, lines.join('\n'), { precision: 's' });
  }
}

function line(host: number, second: number): string {
  const value = (host * 7919 + second * 31) % 1000;
  return `cpu,host=h${host},region=r${host % 7} used=${value / 10},waited=${value / 20},idle=${(1000 - value) / 10} ${START_SECONDS + second}`;
}

/** Everybody at once, for so many seconds. */
async function burst({ url }: Subject): Promise<Times> {
  const times: Times = { writes: [], panels: [], reports: [] };
  const end = performance.now() + seconds * 1000;
  const isOver = (): boolean => performance.now() >= end;
  const timed = async (into: number[], work: () => Promise<unknown>): Promise<void> => {
    const began = performance.now();
    await work();
    into.push(performance.now() - began);
  };
  const writer = async (number: number): Promise<void> => {
    let second = HISTORY_SECONDS;
    while (!isOver()) {
      const lines = Array.from({ length: ROWS_PER_WRITE }, (_, i) =>
        line((i % (HOSTS / WRITERS)) * WRITERS + number, second + Math.floor(i / 100)),
      );
      second += 10;
      const due = performance.now() + WRITE_EVERY_MS;
      await timed(times.writes, () => write(url, DATABASE, lines.join('\n'), { precision: 's' }));
      await wait(Math.max(0, due - performance.now()));
    }
  };
  const dashboard = async (): Promise<void> => {
    while (!isOver()) {
      const due = performance.now() + REFRESH_MS;
      await Promise.all(
        PANELS.map((panel) => timed(times.panels, () => query(url, panel, DATABASE))),
      );
      await wait(Math.max(0, due - performance.now()));
    }
  };
  const analyst = async (): Promise<void> => {
    while (!isOver()) await timed(times.reports, () => query(url, REPORT, DATABASE));
  };
  const writers = Array.from({ length: WRITERS }, (_, i) => writer(i));
  const dashboards = Array.from({ length: DASHBOARDS }, () => dashboard());
  await Promise.all([...writers, ...dashboards, analyst()]);
  return times;
}
