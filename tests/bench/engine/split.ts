// Benchmark of a task that is split by group over a cluster of three engines on this machine,
// beside the same task whole: rows per second, and processor time of each instance per million
// rows. The second says what machines of their own would do.
// `npm run bench -- engine/split`; needs a build and nats-server.
import { makeDirectory, removeDirectory, runTidemark } from '@tidemark/testkit';

import { partOf } from '../../../packages/runtime/src/part.ts';
import { processorMs } from '../server/processor.ts';

const INSTANCES = 3;
const ROWS = 200_000;
const ROWS_PER_WRITE = 2_500;
const WRITES_AT_ONCE = 4;
const HOSTS = 200;
const ROUNDS = 3;
/** One point of each host in ten seconds. */
const STEP_SECONDS = 10;
const QUIET_MS = 500;
const START_SECONDS = 1_700_000_000;

const FROM = `stream|from().measurement('cpu').groupBy('host')`;
const SCRIPTS = {
  alert: `${FROM}|alert().crit(lambda: "user" > 99.5).stateChangesOnly().topic('t')`,
  percentiles: [
    `var w = ${FROM}|window().period(10m).every(1m)`,
    ...[50, 75, 90, 95, 99].map((n) => `w|percentile('user', ${n}.0)|httpOut('p${n}')`),
  ].join('\n'),
} as const;
/** 1 is the task whole. */
const PARTS = [1, 3, 6];

type Instance = { readonly url: string; readonly pid: number };
type Place = { readonly id: string; readonly part?: number; readonly instance: string };

const directory = await makeDirectory();

async function tidemark(verb: string, ...more: string[]): Promise<string> {
  const { status, stdout, stderr } = await runTidemark([
    'engine-cluster',
    verb,
    '--dir',
    directory,
    ...more,
  ]);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

async function call<T>(url: string, path: string, init?: RequestInit): Promise<T | undefined> {
  const response = await fetch(`${url}/engine/v1${path}`, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return text === '' ? undefined : (JSON.parse(text) as T);
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Bodies of the writes of one measurement. */
function bodies(): readonly string[] {
  const lines = Array.from({ length: ROWS }, (_, i) => {
    const time = START_SECONDS + Math.floor(i / HOSTS) * STEP_SECONDS;
    const value = (Math.imul(i, 2_654_435_761) >>> 8) % 1000;
    return `cpu,host=host_${i % HOSTS},region=r${i % 7} user=${value / 10},system=${(999 - value) / 10},idle=${value % 97} ${time}`;
  });
  return Array.from({ length: ROWS / ROWS_PER_WRITE }, (_, i) =>
    lines.slice(i * ROWS_PER_WRITE, (i + 1) * ROWS_PER_WRITE).join('\n'),
  );
}

/** Where a task runs, once the instances that do not lead have parts; the leader may have none. */
async function placed(url: string, id: string, parts: number): Promise<readonly Place[]> {
  for (;;) {
    const { tasks = [] } = (await call<{ tasks: readonly Place[] }>(url, '/cluster/tasks')) ?? {};
    const own = tasks.filter((task) => task.id === id);
    const used = new Set(own.map(({ instance }) => instance)).size;
    if (own.length === parts && used >= Math.min(parts, INSTANCES - 1)) return own;
    await sleep(200);
  }
}

/**
 * When its nodes took the last point. They count from zero where a part was moved meanwhile, so
 * that the end is when nothing is counted any more.
 */
async function processedAt(url: string, id: string): Promise<number> {
  type Stats = { stats: { 'node-stats': Record<string, { collected: number }> } };
  let last = performance.now();
  let seen = '';
  while (performance.now() - last < QUIET_MS) {
    const { stats } = (await call<Stats>(url, `/tasks/${id}`)) ?? {};
    const now = JSON.stringify(
      Object.values(stats?.['node-stats'] ?? {}).map(({ collected }) => collected),
    );
    if (now !== seen) last = performance.now();
    seen = now;
    await sleep(20);
  }
  return last;
}

/** Rows of each instance, by the hosts of its parts. */
function rowsOf(places: readonly Place[], parts: number): ReadonlyMap<string, number> {
  const rows = new Map<string, number>();
  const by = { isAllBut: false, tags: ['host'] };
  for (let host = 0; host < HOSTS; host++) {
    const series = { tagKeys: ['host'], tagOnce: () => `host_${host}` };
    const part = parts === 1 ? undefined : partOf(series, { by, count: parts }) + 1;
    const { instance = '' } = places.find((place) => place.part === part) ?? {};
    rows.set(instance, (rows.get(instance) ?? 0) + ROWS / HOSTS);
  }
  return rows;
}

async function measure(
  instances: readonly Instance[],
  name: keyof typeof SCRIPTS,
  parts: number,
): Promise<void> {
  const [{ url } = { url: '' }] = instances;
  const id = `${name}-${parts}`;
  const script = SCRIPTS[name];
  const dbrps = [{ db: 'd', rp: 'r' }];
  const task = { id, dbrps, script, split: parts, status: 'enabled' };
  await call(url, '/tasks', { method: 'POST', body: JSON.stringify(task) });
  const places = await placed(url, id, parts);
  const { members = [] } =
    (await call<{ members: readonly (Instance & { id: string; leader: boolean })[] }>(
      url,
      '/cluster/members',
    )) ?? {};
  const before = members.map(({ pid }) => processorMs(pid));
  const began = performance.now();
  const waiting = BODIES.map((body, i) => ({ body, to: instances[i % INSTANCES]?.url ?? url }));
  await Promise.all(
    Array.from({ length: WRITES_AT_ONCE }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        await call(next.to, '/write?db=d&rp=r&precision=s', { method: 'POST', body: next.body });
    }),
  );
  const seconds = ((await processedAt(url, id)) - began) / 1000;
  const rows = rowsOf(places, parts);
  const each = members.map(({ id: instance, pid, leader }, i) => {
    const cpu = (processorMs(pid) - (before[i] ?? 0)) / 1000;
    const rate = (rows.get(instance) ?? 0) / seconds;
    return {
      cpu,
      text: `${leader ? 'leader ' : ''}${Math.round(rate)} rows/s, ${((cpu / ROWS) * 1e6).toFixed(2)} s/M`,
    };
  });
  const cpu = each.reduce((sum, one) => sum + one.cpu, 0);
  console.log(
    `${name}, ${parts === 1 ? 'whole' : `${parts} parts`}: ${Math.round(ROWS / seconds)} rows/s, ${((cpu / ROWS) * 1e6).toFixed(2)} s of CPU per M rows (${each.map(({ text }) => text).join('; ')})`,
  );
  await call(url, `/tasks/${id}`, { method: 'DELETE' });
}

const BODIES = bodies();
try {
  await tidemark('up', '--instances', String(INSTANCES));
  const { instances } = JSON.parse(await tidemark('status', '--json')) as {
    instances: readonly Instance[];
  };
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ['alert', 'percentiles'] as const)
      for (const parts of PARTS) await measure(instances, name, parts);
  }
} finally {
  await tidemark('down');
  await removeDirectory(directory);
}
