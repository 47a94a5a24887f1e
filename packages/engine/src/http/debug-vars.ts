// The contents of `debug/vars` and `/metrics`.
import { familiesOf, printMetrics, TIDEMARK_VERSION } from '@tidemark/core';
import type { MetricFamily, RequestMetrics } from '@tidemark/core';
import { countCpuFromStart } from '@tidemark/process';
import { collectDefaultMetrics, Counter, Registry } from 'prom-client';
import type { AlertService } from '@tidemark/alerting';
import type { Subscriptions } from '../database/subscriptions.ts';
import type { WritePath } from '../ingest/write-path.ts';
import type { TaskBalance } from '../cluster/task-balance.ts';
import type { Shared } from '../open-stores.ts';
import { instanceViews } from './cluster-overview.ts';
import type { Executor } from '../tasks/executor.ts';
import type { TaskService } from '../tasks/task-service.ts';
import type { HttpServer } from './server.ts';
import { METRIC_PREFIX, METRIC_TABLE } from '../observability/metric-table.ts';
import type { Reporter, Statistic } from '../statistics/reporter.ts';
import { integers } from '../statistics/reporter.ts';

/** The counters of tasks and of their sources. */
type Counted = {
  readonly tasks: Pick<TaskService, 'count'>;
  readonly executor: Pick<Executor, 'count'>;
  readonly subscriptions: Pick<Subscriptions, 'count'>;
};

/** Instances of the cluster and how far they are behind; empty without a cluster. */
export function clusterStatistics(
  shared: Shared | undefined,
  executor: Executor,
  balance: TaskBalance | undefined,
): readonly Statistic[] {
  if (shared === undefined) return [];
  const views = instanceViews(shared, executor, balance);
  const alive = views.filter(({ member }) => member.isAlive).length;
  return [
    { name: 'cluster', tags: {}, values: integers({ alive, gone: views.length - alive }) },
    ...views.map(({ member, tasks, copyLag, taskLag, load }) => ({
      name: 'cluster_member',
      tags: { member: member.url },
      values: integers({
        leads: member.isLeader ? 1 : 0,
        tasks,
        points: Math.round(load?.pointsPerSecond ?? 0),
        held_bytes: load?.heldBytes ?? 0,
        copyLag,
        taskLag,
      }),
    })),
  ];
}

/** Statistics of parts that have no tasks: the API, topics, memory. */
export function serviceStatistics(
  parts: Counted & { readonly writes: WritePath; readonly alerts: AlertService },
  server: HttpServer,
): readonly Statistic[] {
  const { bytes, pointsOk, pointsFailed } = parts.writes.counters;
  const memory = process.memoryUsage();
  const topics = parts.alerts.topics({ matches: () => true, minLevel: 'OK' });
  return [
    {
      name: 'http',
      tags: {},
      values: integers({
        ...server.counters,
        write_req_bytes: bytes,
        points_written_ok: pointsOk,
        points_written_fail: pointsFailed,
      }),
    },
    { name: 'memory', tags: {}, values: integers(server.bodyCounters()) },
    {
      name: 'runtime',
      tags: {},
      values: integers({
        Alloc: memory.heapUsed,
        HeapSys: memory.heapTotal,
        Sys: memory.rss,
        external: memory.external,
        array_buffers: memory.arrayBuffers,
      }),
    },
    {
      name: 'tidemark',
      tags: {},
      values: integers({
        num_tasks: parts.tasks.count(),
        num_enabled_tasks: parts.executor.count,
        num_subscriptions: parts.subscriptions.count,
      }),
    },
    ...topics.map((topic) => ({
      name: 'topics',
      tags: { id: topic.id },
      values: integers({ collected: topic.collected }),
    })),
    ...parts.alerts.deliveries().map(({ topic, handler, state }) => {
      const { delivered, repeated, failed, refused, waiting } = state;
      const values = integers({ delivered, repeated, failed, refused, waiting });
      return { name: 'handlers', tags: { topic, handler }, values };
    }),
    { name: 'alert', tags: {}, values: integers({ dead_letters: parts.alerts.deadLetters.count }) },
  ];
}

/** The document of `debug/vars`. */
export function debugVars(
  engine: Counted & {
    readonly clusterId: string;
    readonly serverId: string;
    readonly hostname: string;
    readonly uptimeMs: number;
  },
  reporter: Reporter,
): Readonly<Record<string, unknown>> {
  const statistics = reporter.statistics();
  return {
    cluster_id: engine.clusterId,
    server_id: engine.serverId,
    host: engine.hostname,
    product: 'tidemark',
    version: TIDEMARK_VERSION,
    platform: `node ${process.version} ${process.platform}/${process.arch}`,
    num_tasks: engine.tasks.count(),
    num_enabled_tasks: engine.executor.count,
    num_subscriptions: engine.subscriptions.count,
    uptime: engine.uptimeMs / 1000,
    cmdline: process.argv.slice(0, 2),
    memstats: process.memoryUsage(),
    tidemark: Object.fromEntries(
      statistics.map(({ name, tags, values }, i) => [`${name}:${i}`, { name, tags, values }]),
    ),
  };
}

let processMetrics: Registry | undefined;

/** The default metrics measure the whole process, so there is one registry for it. */
function processRegistry(): Registry {
  if (processMetrics === undefined) {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    // CPU time counts from now on.
    const before = process.cpuUsage();
    countCpuFromStart(before, (name) => {
      const metric = registry.getSingleMetric(name);
      return metric instanceof Counter ? metric : undefined;
    });
    processMetrics = registry;
  }
  return processMetrics;
}

/** Prometheus text: metrics of the process, of requests, and the statistics by their table. */
export async function metricsText(reporter: Reporter, requests: RequestMetrics): Promise<string> {
  const families = [
    infoOf(reporter),
    ...requests.families(),
    ...familiesOf(reporter.own(), METRIC_TABLE),
  ];
  return `${await processRegistry().metrics()}\n${printMetrics(families)}`;
}

/** The tags that all statistics share, in one metric. */
function infoOf({ common }: Reporter): MetricFamily {
  return {
    name: `${METRIC_PREFIX}_info`,
    type: 'gauge',
    help: 'Which engine this is.',
    samples: [{ labels: { ...common, version: TIDEMARK_VERSION }, value: 1 }],
  };
}
