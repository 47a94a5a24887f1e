// The tables of docs/benchmarks.md about texts, against one server. Without events: texts and tags.
// packages/cli/bin/node --conditions=source tests/soak/memory/compare.ts \
//   tidemark|influxdb [texts [tags [clients [events]]]]
import { removeDirectory, startInfluxdb, startTidemark } from '@tidemark/testkit';

import { cpuSeconds } from './peak.ts';
import { loadEvents, loadTags, loadTexts, measure } from './texts.ts';
import type { Measured, Subject } from './texts.ts';

const [system = 'tidemark', texts = '20000', series = '50000', clients = '8', events = '0'] =
  process.argv.slice(2);

const TEXTS = [
  'SELECT * FROM big ORDER BY time DESC LIMIT 50',
  'SELECT count(distinct(t)) FROM big',
  'SELECT last(t) FROM big GROUP BY h',
  `SELECT t FROM big WHERE n > ${Number(texts) - 10}`,
];
const TAGS = [
  'SELECT top(v, a, 100) FROM tagged',
  'SELECT * FROM tagged ORDER BY time DESC LIMIT 3',
  'SELECT v, a FROM tagged',
  'SHOW SERIES',
];

/** So many reads of the newest events, one after the other. */
const NEWEST_READS = 9;

type Printed = Measured & { readonly worstMs?: number; readonly p99Ms?: number };

async function print({ pid }: Subject, work: () => Promise<Printed>): Promise<void> {
  const before = cpuSeconds(pid);
  const {
    name,
    clients: asked,
    seconds,
    peakMiB,
    answered,
    refused,
    errors,
    worstMs,
    p99Ms,
  } = await work();
  const cpu = cpuSeconds(pid) - before;
  const worst =
    worstMs === undefined ? '' : ` worst ${worstMs.toFixed(0)} ms, p99 ${p99Ms?.toFixed(0)} ms`;
  process.stdout.write(
    `${name} | ${asked} | ${seconds.toFixed(2)} s | CPU ${cpu.toFixed(2)} s | ${peakMiB} MiB | ${answered}/${refused}${worst} ${errors.join('; ').slice(0, 160)}\n`,
  );
}

async function run(subject: Subject): Promise<void> {
  if (Number(texts) > 0) await runTexts(subject);
  if (Number(series) > 0) await runTags(subject);
  if (Number(events) > 0) await runEvents(subject);
}

async function runEvents(subject: Subject): Promise<void> {
  const database = 'events';
  await print(subject, () => loadEvents(subject, { database, events: Number(events), writers: 4 }));
  const text = 'SELECT * FROM events ORDER BY time DESC LIMIT 50';
  for (let i = 0; i < NEWEST_READS; i++) {
    await print(subject, () => measure(subject, { text }, { database, clients: 1 }));
  }
}

async function runTexts(subject: Subject): Promise<void> {
  const texted = { database: 'texts', texts: Number(texts), textLength: 32_000, series: 20 };
  await print(subject, () => loadTexts(subject, texted));
  for (const text of TEXTS)
    await print(subject, () =>
      measure(subject, { text }, { database: 'texts', clients: Number(clients) }),
    );
}

async function runTags(subject: Subject): Promise<void> {
  await print(subject, () =>
    loadTags(subject, { database: 'tags', series: Number(series), tagLength: 2000 }),
  );
  for (const text of TAGS)
    await print(subject, () =>
      measure(subject, { text }, { database: 'tags', clients: Number(clients) }),
    );
}

if (system === 'influxdb') {
  const server = await startInfluxdb();
  try {
    await run({ url: server.url, pid: server.process.pid! });
  } finally {
    await server.stop();
  }
} else {
  const server = await startTidemark({ command: 'tsdb', args: ['--log-level', 'error'] });
  try {
    await run({ url: server.tsdb, pid: server.process.pid! });
  } finally {
    await server.stop();
    await removeDirectory(server.directory);
  }
}
