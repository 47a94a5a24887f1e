// Throughput of tasks inside one thread, from the bytes of a write to the last node.
//
//   node --conditions=source --import tsx tests/bench/runtime/run.ts [--only name,name] [--rows N] [--nodes | --compared]
//
// Prints rows per second with parsing, the share of parsing, and how that compares to the existing engine.
import { systemClock } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import { createTask, EXECUTABLE_NODE_TYPES, SeriesTable, WriteParser } from '@tidemark/runtime';
import type { RunningTask } from '@tidemark/runtime';
import { silentAlerts, silentServices } from '@tidemark/runtime/testing';
import type { BenchCase } from './cases.ts';
import { COMPARED, NODES, writes } from './cases.ts';

const argument = (name: string): string | undefined => {
  const i = process.argv.indexOf(`--${name}`);
  return i < 0 ? undefined : process.argv[i + 1];
};
const rowCount = Number(argument('rows') ?? 200_000);
const only = argument('only')?.split(',');
const isCompared = process.argv.includes('--compared');
const isNodes = process.argv.includes('--nodes');
const cases = [...(isNodes ? [] : COMPARED), ...(isCompared ? [] : NODES)];

/** Nodes whose cost is that of a process or a database elsewhere. */
const MEASURED_ELSEWHERE: ReadonlySet<string> = new Set([
  'stream',
  'batch',
  'query',
  'udf',
  // As k8sAutoscale, with another provider.
  'swarmAutoscale',
  'ec2Autoscale',
]);

/** Every node that can run is measured. */
function requireAllNodes(): void {
  const measured = new Set(
    NODES.flatMap(({ scripts }) => scripts).flatMap((script) =>
      (buildPipeline(script).pipeline?.nodes ?? []).map(({ type }) => type as string),
    ),
  );
  const missing = [...EXECUTABLE_NODE_TYPES].filter(
    (type) => !measured.has(type) && !MEASURED_ELSEWHERE.has(type),
  );
  if (missing.length > 0) throw new Error(`no benchmark for ${missing.join(', ')}`);
}

let eventCount = 0;
const services = silentServices({
  alerts: {
    ...silentAlerts,
    publish: () => {
      eventCount++;
    },
  },
  sideload: {
    open: () => Promise.resolve({ lookup: () => undefined, close: () => undefined }),
  },
  scalerCluster: () => ({ url: 'http://127.0.0.1:9', headers: {}, namespace: '' }),
});

async function run(bench: BenchCase, rows: number): Promise<string> {
  const bodies = writes(rows, bench.hostCount);
  const thread = { series: new SeriesTable() };
  const clock = systemClock();
  const tasks: RunningTask[] = [];
  for (const [i, script] of bench.scripts.entries()) {
    const { pipeline, error } = buildPipeline(script);
    if (pipeline === undefined) throw new Error(`${bench.name}: ${error?.text}`);
    const task = createTask(pipeline, services, { taskId: `t${i}`, clock }, thread);
    await task.start();
    tasks.push(task);
  }
  const parser = new WriteParser();
  const target = { database: 'd', retentionPolicy: 'r', precision: 's' as const, now: 0n };
  let parseMs = 0;
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  for (const body of bodies) {
    const before = performance.now();
    const { batch } = parser.parse(body, target);
    parseMs += performance.now() - before;
    for (const task of tasks) task.push(batch);
  }
  const totalMs = performance.now() - start;
  const cpu = process.cpuUsage(cpuBefore);
  const cpuMicros = (cpu.user + cpu.system) / rows;
  for (const task of tasks) {
    if (task.error !== undefined) throw new Error(`${bench.name}: ${task.error}`);
    await task.close();
  }
  const rate = (rows / totalMs) * 1000;
  const baseline = bench.baselineRowsPerSecond;
  const factor = baseline === undefined ? '' : `${(rate / baseline).toFixed(1)}x`;
  return [
    bench.name.padEnd(18),
    `${Math.round(rate).toLocaleString('en')} rows/s`.padStart(18),
    `${cpuMicros.toFixed(2)} CPU µs/row`.padStart(18),
    `parse ${((parseMs * 1000) / rows).toFixed(2)} µs`.padStart(16),
    factor.padStart(8),
  ].join('');
}

requireAllNodes();
for (const bench of cases) {
  if (only !== undefined && !only.includes(bench.name)) continue;
  await run(bench, Math.min(rowCount, 50_000));
  console.log(await run(bench, rowCount));
}
console.log(`${eventCount} events`);
