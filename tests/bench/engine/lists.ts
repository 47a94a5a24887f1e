// Benchmark of the lists of a running engine over HTTP with 1,000 enabled tasks and 100,000 events
// in ten topics. The limit is 50 ms for each. `npm run bench -- engine/lists`; prints median and
// maximum of each list in milliseconds.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { resolveEngineConfig, startEngine } from '@tidemark/engine';

const TASKS = 1_000;
const TOPICS = 10;
const EVENTS = 100_000;
const EVENTS_PER_REQUEST = 1_000;
const REPEATS = 31;
const WARM_UPS = 5;

const quiet = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error };
const directory = mkdtempSync(join(tmpdir(), 'engine-bench-'));
const { config } = resolveEngineConfig([
  {
    source: 'bench',
    values: {
      data_dir: directory,
      stats: { enabled: false },
      http: { 'bind-address': '127.0.0.1:0', 'log-enabled': false },
    },
  },
]);
const engine = await startEngine(config, { log: quiet });

async function request(method: string, path: string, body?: string): Promise<string> {
  const response = await fetch(engine.url + path, {
    method,
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text;
}

async function define(): Promise<void> {
  for (let i = 0; i < TASKS; i++) {
    const topic = `topic-${i % TOPICS}`;
    // The first of each topic makes its events; the others wait for a measurement of their own.
    const measurement = i < TOPICS ? `m${i}` : `quiet${i}`;
    const script = `stream
    |from().measurement('${measurement}').groupBy('h')
    |window().periodCount(1).everyCount(1)
    |last('v').as('v')
    |alert().id('{{ index .Tags "h" }}').crit(lambda: "v" > 5).topic('${topic}')`;
    const task = { id: `task-${i}`, dbrps: [{ db: 'd', rp: 'r' }], script, status: 'enabled' };
    await request('POST', '/engine/v1/tasks', JSON.stringify(task));
  }
}

async function raiseEvents(): Promise<void> {
  for (let from = 0; from < EVENTS; from += EVENTS_PER_REQUEST) {
    const lines = Array.from(
      { length: EVENTS_PER_REQUEST },
      (_, i) => `m${(from + i) % TOPICS},h=host-${from + i} v=9 ${1_704_067_200 + from}`,
    );
    await request('POST', '/write?db=d&rp=r&precision=s', lines.join('\n'));
  }
}

/** Times of a list, ascending. */
async function measure(path: string): Promise<{ times: number[]; sizeBytes: number }> {
  const times: number[] = [];
  let sizeBytes = 0;
  for (let i = -WARM_UPS; i < REPEATS; i++) {
    const start = performance.now();
    sizeBytes = (await request('GET', path)).length;
    if (i >= 0) times.push(performance.now() - start);
  }
  return { times: times.toSorted((a, b) => a - b), sizeBytes };
}

async function collected(): Promise<number> {
  const { topics } = JSON.parse(await request('GET', '/engine/v1preview/alerts/topics')) as {
    readonly topics: readonly { readonly collected: number }[];
  };
  return topics.reduce((sum, topic) => sum + topic.collected, 0);
}

try {
  await define();
  await raiseEvents();
  // Tasks run in threads of their own; their last events may still be on the way.
  while ((await collected()) < EVENTS) await new Promise((resolve) => setTimeout(resolve, 100));
  for (const path of [
    '/engine/v1/tasks',
    '/engine/v1/tasks?limit=1000&fields=id&fields=status&fields=executing',
    '/engine/v1/tasks?offset=900&limit=100&pattern=task-*',
    '/engine/v1/templates',
    '/engine/v1preview/alerts/topics',
    '/engine/v1preview/alerts/topics?min-level=CRITICAL',
    '/engine/v1preview/alerts/topics/topic-0/events',
    '/engine/v1preview/alerts/topics/topic-0/events?min-level=CRITICAL',
    '/engine/v1preview/alerts/topics/topic-0/handlers',
  ]) {
    const { times, sizeBytes } = await measure(path);
    const median = times[times.length >> 1] ?? 0;
    const slowest = times.at(-1) ?? 0;
    console.log(
      `${median.toFixed(1).padStart(8)} ms median ${slowest.toFixed(1).padStart(8)} ms max ${String(sizeBytes).padStart(9)} bytes  ${path}`,
    );
  }
} finally {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
}
