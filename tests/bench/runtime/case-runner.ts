// Runs one case of the task benchmarks in this thread, from the bytes of a write (or the rows of a
// query's result) to the last node. Services respond at once, so that only the nodes are measured.
import { fileURLToPath } from 'node:url';
import { systemClock } from '@tidemark/core';
import { buildPipeline } from '@tidemark/pipeline';
import type { Pipeline, UdfRegistry } from '@tidemark/pipeline';
import { createTask, SeriesTable, WriteParser } from '@tidemark/runtime';
import type { PointBatch, QueryResultSeries, RunningTask } from '@tidemark/runtime';
import { udfConnector } from '@tidemark/runtime/host';
import { silentAlerts, silentServices } from '@tidemark/runtime/testing';
import type { BenchCase } from './cases.ts';
import { eventWrites, writes } from './cases.ts';

/** The sample that sums a field. */
const UDF = {
  prog: process.execPath,
  args: [
    fileURLToPath(
      new URL('../../../packages/runtime/examples/udf/running-sum.ts', import.meta.url),
    ),
  ],
  env: {},
  timeoutMs: 60_000,
};
const UDFS: UdfRegistry = new Map([
  ['udf', { wants: 'stream', provides: 'stream', options: { field: ['string'] } }],
]);

export type CaseResult = {
  readonly rowCount: number;
  readonly totalMs: number;
  readonly parseMs: number;
  readonly cpuMicrosPerRow: number;
  /** Alert events. */
  readonly eventCount: number;
  /** Messages that the nodes of all tasks took, points of queries included. */
  readonly collectedCount: number;
};

/** The pipelines of a case. Throws when a script is not one. */
export function pipelinesOf(bench: BenchCase): Pipeline[] {
  return bench.scripts.map((script) => {
    const { pipeline, error } = buildPipeline(script, { udfs: UDFS });
    if (pipeline === undefined) throw new Error(`${bench.name}: ${error?.text}`);
    return pipeline;
  });
}

/** Throws when a task ends by itself. */
export async function runCase(bench: BenchCase, rowCount: number): Promise<CaseResult> {
  const write = bench.hasTexts === true ? eventWrites : writes;
  const bodies = write(rowCount, bench.hostCount);
  let eventCount = 0;
  const tasks = await start(bench, () => {
    eventCount++;
  });
  const parser = new WriteParser();
  const target = { database: 'd', retentionPolicy: 'r', precision: 's' as const, now: 0n };
  const results =
    bench.isBatch === true ? bodies.map((b) => queryResult(parser.parse(b, target).batch)) : [];
  let parseMs = 0;
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  for (const [i, body] of bodies.entries()) {
    const result = results[i];
    if (result !== undefined) {
      for (const task of tasks) task.pushQueryResult('query1', result, { stop: 0n });
      continue;
    }
    const before = performance.now();
    const { batch } = parser.parse(body, target);
    parseMs += performance.now() - before;
    for (const task of tasks) {
      await task.ready();
      task.push(batch);
    }
  }
  for (const task of tasks) await task.drain();
  const totalMs = performance.now() - began;
  const cpu = process.cpuUsage(cpuBefore);
  let collectedCount = 0;
  for (const task of tasks) {
    if (task.error !== undefined) throw new Error(`${bench.name}: ${task.error}`);
    for (const stats of task.stats().nodes.values()) {
      collectedCount += stats.collected + (stats['points_queried'] ?? 0);
    }
    await task.close();
  }
  const cpuMicrosPerRow = (cpu.user + cpu.system) / rowCount;
  return { rowCount, totalMs, parseMs, cpuMicrosPerRow, eventCount, collectedCount };
}

async function start(bench: BenchCase, onEvent: () => void): Promise<RunningTask[]> {
  const services = silentServices({
    alerts: { ...silentAlerts, publish: onEvent },
    sideload: {
      open: () => Promise.resolve({ lookup: () => undefined, close: () => undefined }),
    },
    scalerCluster: () => ({ url: 'http://127.0.0.1:9', headers: {}, namespace: '' }),
    udf: udfConnector(new Map([['udf', UDF]]), () => undefined),
  });
  const thread = { series: new SeriesTable() };
  const tasks: RunningTask[] = [];
  for (const [i, pipeline] of pipelinesOf(bench).entries()) {
    const task = createTask(pipeline, services, { taskId: `t${i}`, clock: systemClock() }, thread);
    await task.start();
    tasks.push(task);
  }
  return tasks;
}

/** The rows of a write as a database would answer them, one series per host. */
function queryResult(batch: PointBatch): QueryResultSeries[] {
  const [block] = batch.blocks;
  const columns = ['time', ...(block?.fieldNames ?? [])];
  const rows = Array.from(batch.series, () => [] as (bigint | number)[][]);
  for (let row = 0; row < batch.rowCount; row++) {
    const values = (block?.columns ?? []).map((column) =>
      column.type === 'float' ? (column.values[row] ?? 0) : 0,
    );
    rows[batch.seriesOfRow[row] ?? 0]?.push([batch.times[row] ?? 0n, ...values]);
  }
  return Array.from(batch.series, ({ name, tagKeys, tagValues }, i) => ({
    name,
    tags: { hostname: tagValues[tagKeys.indexOf('hostname')] ?? '' },
    columns,
    values: rows[i] ?? [],
  }));
}
